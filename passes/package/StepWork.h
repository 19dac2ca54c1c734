// What one execution of a device program computes and moves, with the instruction that does it: what
// lib/cost makes a time of.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "lib/cost/StepTime.h"
#include "passes/package/Figures.h"

#include <vector>

namespace tessera {

struct KernelRun : cost::Repeated<cost::Compute> {
  mlir::Operation *op; // the exec.dispatch or exec.copy
};

// Where data decides how often a loop runs, once; of a branch the block that takes longest.
std::vector<KernelRun> kernelRuns(exec::ProgramOp program, const cost::Topology &topology);

// Of a row of collectiveFigures: none where it is not among devices of a mesh.
std::optional<cost::Repeated<cost::Transfer>> transferOf(const CollectiveFigures &figures,
                                                         const sharding::Mesh &mesh);

// Of the whole step; `mesh` null for a program of one device.
cost::StepTime predictStep(exec::ProgramOp program, const cost::Topology &topology,
                           const sharding::Mesh *mesh);

} // namespace tessera
