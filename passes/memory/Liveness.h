// The values of a program on tensors as arrays with live segments, and the moves where control flow
// joins.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/memory/Storage.h"

namespace tessera::memory {

// Positions number the ops in the order in which they stand; a loop or branch has a second one
// after its regions.
struct Positions {
  llvm::DenseMap<mlir::Operation *, int64_t> begin, end;
};

struct Liveness {
  Positions at;
  Storages storages;
  // The array of each tensor value; views, waits and what loops pass through unchanged share their
  // origin's.
  llvm::DenseMap<mlir::Value, int> arrays;
  int64_t constantBytes = 0;
  // All-reduces with operands' arrays that nobody reads after them.
  llvm::DenseSet<std::pair<mlir::Operation *, int>> readLast;

  int arrayOf(mlir::Value value) const { return arrays.lookup(value); }
};

// Values get arrays and live segments; nothing is shared yet but what is the same value.
mlir::FailureOr<Liveness> analyse(mlir::func::FuncOp func);

// Shares arrays where that saves copies or memory: in-place updates first, then what loops carry,
// results, and pointwise kernels.
void shareArrays(mlir::func::FuncOp func, Liveness &liveness);

} // namespace tessera::memory
