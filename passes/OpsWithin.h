// The ops within an op: of one kind, found before any of them is changed, as a walk must not go over what
// is rewritten meanwhile; and how many there are.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera {

// In the order of a walk of `root`, a block or an op.
template <typename Op, typename Root> llvm::SmallVector<Op> opsWithin(Root &&root) {
  llvm::SmallVector<Op> ops;
  root.walk([&](Op op) { ops.push_back(op); });
  return ops;
}

// With `root`, and all that is inside of others.
inline size_t countOps(mlir::Operation *root) {
  size_t count = 0;
  root->walk([&](mlir::Operation *) { ++count; });
  return count;
}

} // namespace tessera
