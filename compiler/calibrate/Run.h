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

// For how long a program is measured, and what of its steps counts.
struct Measured {
  double seconds;  // after which no further step begins
  double span = 0; // of steps in a row (OnePace.h); 0: the least of all steps
};

// Of a step, at its best in that time; `error`: what went wrong.
double secondsOf(const Program &program, const Compiled &compiled,
                 const CalibrationOptions &options, std::string &error, Measured measured);

} // namespace tessera::calibration
