// The rewrite of the pass form-kernels, for who wants to know what a program becomes by it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// With `saysWhy` remarks say why what looks like attention is none of its kernels.
mlir::LogicalResult formKernels(mlir::ModuleOp module, bool saysWhy = false);

} // namespace tessera::fuse
