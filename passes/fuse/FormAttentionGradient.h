// The gradient of attention as one kernel, or two, that compute its probabilities again.
#pragma once

#include "lib/fusion/AttentionStays.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

#include <string>

namespace tessera::fuse {

// By the product that makes an attention's scores, what is in the way of its kernel.
using ReasonsAgainst = llvm::DenseMap<mlir::Operation *, std::string>;

// Puts each attention's gradient of the block into an exec.fused of its own: the products of queries
// and keys, what is computed of them for each pair, and the products that sum it up. Of the softmax it
// reads the largest score and the sum of each query, so that nothing but these reads the scores and
// the probabilities of the forward pass. How many there were.
unsigned formAttentionGradients(mlir::Block &block, ReasonsAgainst &reasons,
                                const fusion::AttentionLimits &limits = {});

// Does only what lets such a kernel read no value of pairs: sums over keys in a softmax's gradient are made
// of attention's result. What the kernel reads, the forward pass's part in it too, can then be read off the
// program. How many gradients had such sums.
unsigned replaceSoftmaxSums(mlir::Block &block, const fusion::AttentionLimits &limits = {});

} // namespace tessera::fuse
