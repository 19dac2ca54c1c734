// Sums of all elements of large arrays in two stages, for GPUs.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Those outside kernels: the first stage is work for all blocks of a GPU, the second for one.
void splitWholeSums(mlir::ModuleOp module);

} // namespace tessera::fuse
