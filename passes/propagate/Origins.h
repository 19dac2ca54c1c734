// Why values are sharded as they are.
#pragma once

#include "passes/propagate/ModuleGraph.h"

namespace tessera {

// For each axis of each value that propagation sharded: the annotation it came from, and through
// which ops.
//   "x" from argument 0, through 3 ops
class Origins {
public:
  explicit Origins(const ModuleGraph &module);

  // One line for each axis of the value; empty when nothing was propagated to it. With `hops`, up
  // to that many ops of the way are named, the nearest first.
  llvm::SmallVector<std::string> linesOf(int32_t value, int32_t hops = 0) const;

  // One line for each factor along which the tensors of op number `op` of the graph disagree: who
  // has what, and why the others do not follow.
  //   "x" of size 64: operand 0 has it; result 0 uses it in another dimension
  llvm::SmallVector<std::string> conflictLinesOf(int32_t op) const;

private:
  const sharding::PropagationStep *stepOf(int32_t value, const sharding::AxisRef &axis) const;
  std::string nameOf(int32_t value) const;

  const ModuleGraph &module;
  llvm::DenseMap<int32_t, llvm::SmallVector<int32_t, 2>> steps; // of each value
};

// Notes on every op and argument where its axes came from (`tessera.origin`), and on ops where
// their tensors disagree (`tessera.conflict`).
void attachOrigins(ModuleGraph &module, int32_t hops = 0);

} // namespace tessera
