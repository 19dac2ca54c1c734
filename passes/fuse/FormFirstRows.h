// Sorts of which only the first rows are read, as kernels, before the others of their block are formed.
#pragma once

#include "mlir/IR/Block.h"

namespace tessera::fuse {

// Puts each such sort (top_k, jnp.sort(x)[:k]) and the slices of its results into an exec.fused, which
// then need not sort what nobody reads.
void formFirstRows(mlir::Block &block);

} // namespace tessera::fuse
