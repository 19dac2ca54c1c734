// The gradient of attention as one kernel, or two, that compute its probabilities again.
#pragma once

#include "mlir/IR/Block.h"

namespace tessera::fuse {

// Puts each attention's gradient of the block into an exec.fused of its own: the products of queries
// and keys, what is computed of them for each pair, and the products that sum it up. Of the softmax it
// reads the largest score and the sum of each query, so that nothing but these reads the scores and
// the probabilities of the forward pass.
void formAttentionGradients(mlir::Block &block);

} // namespace tessera::fuse
