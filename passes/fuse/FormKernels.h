// The rewrites of the passes from copy-cheap to form-kernels, for who wants to know what a program
// becomes by them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

mlir::LogicalResult formAllKernels(mlir::ModuleOp module);

} // namespace tessera::fuse
