// Why values are sharded as they are.
#pragma once

#include "passes/propagate/ModuleGraph.h"

namespace tessera {

// For each axis of each value that propagation sharded: the annotation it came from, and through
// how many ops.
//   "x" from argument 0, through 3 ops
class Origins {
public:
  explicit Origins(const ModuleGraph &module);

  // One line for each axis of the value; empty when nothing was propagated to it.
  llvm::SmallVector<std::string> linesOf(int32_t value) const;

private:
  const sharding::PropagationStep *stepOf(int32_t value, const sharding::AxisRef &axis) const;

  const ModuleGraph &module;
  llvm::DenseMap<int32_t, llvm::SmallVector<int32_t, 2>> steps; // of each value
};

// Notes on every op where the axes of its results came from: `tessera.origin`.
void attachOrigins(ModuleGraph &module);

} // namespace tessera
