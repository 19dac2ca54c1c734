// Attention as one kernel.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Puts each attention of the program into an exec.fused of its own: both products, what is computed of
// the scores between them, and what only moves or scales their operands and the result.
// With `saysWhy` a remark says of each that does not become one what is in the way.
void formAttention(mlir::ModuleOp module, bool saysWhy);

// Where gradients of attention could be kernels, only what lets them read no value of pairs. How many.
int replaceSoftmaxSums(mlir::ModuleOp module);

} // namespace tessera::fuse
