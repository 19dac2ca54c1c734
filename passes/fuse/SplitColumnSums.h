// Large sums over columns in two stages.
#pragma once

#include "mlir/IR/Block.h"

namespace tessera::fuse {

// Those of the block itself, which kernels of it may make beside what they compute of the same rows.
void splitColumnSums(mlir::Block &block);

} // namespace tessera::fuse
