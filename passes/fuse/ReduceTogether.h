// Reductions over the same elements as one, in kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Makes reductions of each exec.fused that can go over their elements together one operation. Programs
// for GPUs keep theirs.
void reduceTogether(mlir::ModuleOp module);

} // namespace tessera::fuse
