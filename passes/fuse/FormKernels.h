// The rewrite of the pass form-kernels, for who wants to know what a program becomes by it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

mlir::LogicalResult formKernels(mlir::ModuleOp module);

} // namespace tessera::fuse
