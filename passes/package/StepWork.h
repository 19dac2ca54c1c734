// What one execution of a device program computes and moves, with the instruction that does it: what
// lib/cost makes a time of.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "lib/cost/StepTime.h"
#include "lib/cost/Topology.h"
#include "passes/package/Figures.h"
#include "passes/package/StepPrices.h"

#include "llvm/ADT/StringMap.h"

#include <vector>

namespace tessera {

// The instructions of a program as lib/cost has them. Where devices of the mesh take turns to
// compute (Topology::computingAtOnce), each takes as much longer.
struct StepWork {
  cost::Blocks blocks;
  std::vector<std::vector<mlir::Operation *>> ops; // of each work
  cost::Observation done;                          // of all of a step together
  llvm::DenseMap<mlir::Operation *, Price> prices;
  cost::CorePool pool; // of its devices, and of one where each has cores of its own
};

// `mesh`: the module's, null for one device.
StepWork stepWork(exec::ProgramOp program, const cost::Topology &topology,
                  const sharding::Mesh *mesh);

// With what a step takes to begin and end. `mostEvents` as in cost::predict.
cost::Prediction predictStep(const StepWork &step, const cost::Topology &topology,
                             size_t mostEvents = 0);
cost::Prediction predictStep(exec::ProgramOp program, const cost::Topology &topology,
                             const sharding::Mesh *mesh);

// All dispatches of a kernel in a step.
struct KernelFigures {
  double count = 0;
  double seconds = 0; // of each alone on its device, together
  cost::Terms terms;
};

// Of the module's program that takes longest, and the memory of the one that holds most.
struct ModulePrediction {
  cost::StepTime time;
  cost::Observation work;                 // of the same
  llvm::StringMap<KernelFigures> kernels; // of all programs
  MemoryFigures memory;
};
ModulePrediction predictModule(mlir::ModuleOp module);

// The links of one collective, and what it takes.
links::Route routeOf(exec::StartOp start, const cost::Topology &topology,
                     const sharding::Mesh *mesh);
cost::CollectiveTime timeOf(exec::StartOp start, const cost::Topology &topology,
                            const sharding::Mesh *mesh);

} // namespace tessera
