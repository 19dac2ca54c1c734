// How a program of a calibration is compiled and measured.
#pragma once

#include "compiler/calibrate/Calibrate.h"
#include "compiler/calibrate/Programs.h"

#include "llvm/ADT/StringRef.h"

namespace tessera::calibration {

struct Compiled {
  std::string bytes, error;
  cost::Observation work; // of a step; without seconds
};

Compiled compileFor(const Program &program, const cost::Topology &topology, llvm::StringRef target);

// Of a step, when nobody else is in the way; `error`: what went wrong. `atMost`: the seconds after which
// no further step begins, where it is measured many times; 0: for longer than another process keeps a
// core at a time.
double secondsOf(const Program &program, const Compiled &compiled,
                 const CalibrationOptions &options, std::string &error, double atMost = 0);

} // namespace tessera::calibration
