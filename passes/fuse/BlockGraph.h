// The ops of a block as the plain data by which lib/fusion decides which run together.
#pragma once

#include "lib/fusion/RowsStay.h"
#include "lib/fusion/SumParts.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::fuse {

struct BlockGraph {
  std::vector<mlir::Operation *> ops; // of each node
  llvm::DenseMap<mlir::Operation *, int> numbers;
  std::vector<fusion::Node> nodes;
  fusion::SumPartsTable sums;
};

BlockGraph graphOf(mlir::Block &block, const fusion::RowLimits &rows);

// Calls `fn` with each block of the module's functions, and then with those within what it leaves there
// of loops, branches and others; not with those of kernels.
void forEachBlock(mlir::ModuleOp module, llvm::function_ref<void(mlir::Block &)> fn);

// A constant whose elements are all the same.
bool isSplat(mlir::Operation *op);

} // namespace tessera::fuse
