// Large sums over columns in two stages.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Those outside kernels, which kernels may make beside what they compute of the same rows.
void splitColumnSums(mlir::ModuleOp module);

} // namespace tessera::fuse
