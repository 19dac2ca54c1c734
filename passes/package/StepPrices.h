// What the instructions of a device program do, and how long the device takes for each, with what
// its cache holds of the ones before.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "lib/cost/FitRates.h"
#include "lib/cost/Topology.h"

#include "llvm/ADT/DenseMap.h"

namespace tessera {

// What a collective moves, as figures count it.
struct Started {
  cost::CollectiveKind kind;
  double bytes;
  int64_t group; // its devices
};
Started startedBy(exec::StartOp start);

struct Price {
  cost::Terms terms;  // of one execution
  double seconds = 0; // of a device that computes alone, on as many cores as it may have; no launch
  double flops = 0;
  double meetings = 0; // of a start
  bool hasProducts = false;
};

// Of dispatches, copies and starts; of a start what the devices' own cores do for it. The blocks of a
// branch count as often as the branch. `devices`: of the mesh. `isShort`: the step is one that the
// calling thread carries out (lib/steps/ShortStep.h).
llvm::DenseMap<mlir::Operation *, Price>
pricesOf(exec::ProgramOp program, const cost::Topology &topology, int64_t devices, bool isShort);

// Of a whole step of one device; of a branch the block that takes longest.
cost::Observation workOfStep(exec::ProgramOp program,
                             const llvm::DenseMap<mlir::Operation *, Price> &prices);

} // namespace tessera
