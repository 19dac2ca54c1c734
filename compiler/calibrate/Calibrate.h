// The rates of the machine that this runs on, measured with programs as the compiler makes them.
#pragma once

#include "lib/command/MeasureProgram.h"
#include "lib/cost/FitLinks.h"
#include "lib/cost/FitRates.h"
#include "lib/cost/Topology.h"
#include "lib/target/Target.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera {

struct CalibrationOptions {
  bool quick = false; // a few programs, for a rough result
  const command::Measuring &measuring;
  // Those of mpirun, connected: each measures what it computes while the others do, and all together
  // the links between them. Null: devices of this process.
  const command::Process *process = nullptr;
  std::function<void(size_t done, size_t of, const std::string &name)> progress = {};
};

struct Calibration {
  std::string error; // empty on success
  cost::Topology topology;
  // The programs that the rates come from, and the steps that were observed.
  std::vector<std::string> names, texts; // of the links' programs no texts
  std::vector<cost::Observation> observed;
  std::vector<cost::LinkObservation> collectives; // between processes, behind those
};

Calibration calibrate(const CalibrationOptions &options);
// Of the GPU that this process's programs run on; without observations. `target`: one of its
// architectures, whose code is measured.
Calibration calibrateGpu(const CalibrationOptions &options, const target::Choice &target);

} // namespace tessera
