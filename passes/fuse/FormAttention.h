// Attention as one kernel, before the other kernels of its block are formed.
#pragma once

#include "mlir/IR/Block.h"

namespace tessera::fuse {

// Puts each attention of the block into an exec.fused of its own: both products, what is computed of
// the scores between them, and what only moves or scales their operands and the result.
// With `saysWhy` a remark says of each that does not become one what is in the way.
void formAttention(mlir::Block &block, bool saysWhy);

} // namespace tessera::fuse
