// Sorts of which only the first rows are read, as kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuse {

// Puts each such sort (top_k, jnp.sort(x)[:k]) and the slices of its results into an exec.fused, which
// then need not sort what nobody reads.
void formFirstRows(mlir::ModuleOp module);

} // namespace tessera::fuse
