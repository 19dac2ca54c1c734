// The ops of a block as the plain data by which lib/fusion decides which run together.
#pragma once

#include "lib/fusion/SumParts.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::fuse {

struct BlockGraph {
  std::vector<mlir::Operation *> ops; // of each node
  llvm::DenseMap<mlir::Operation *, int> numbers;
  std::vector<fusion::Node> nodes;
  fusion::SumPartsTable sums;
};

BlockGraph graphOf(mlir::Block &block);

// A constant whose elements are all the same.
bool isSplat(mlir::Operation *op);

} // namespace tessera::fuse
