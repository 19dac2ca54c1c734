// What is of columns alone before the rows that read it.
//
//   y[r, c] = (x[r, c] - m[c] / n) * rsqrt(v[c] + e)
//   ->  for all c's: a[c] = m[c] / n, b[c] = rsqrt(v[c] + e); then y[r, c] = (x[r, c] - a[c]) * b[c]
//
// Vectors run along c inside of the loop over r, so that each row would divide, and take roots, again.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"

namespace tessera::codegen {

// The largest parts of `roots` that depend on `columns`, the innermost loop, on none of `rows`, the loops
// around it, and are dear.
llvm::SmallVector<Node *> columnsFirst(DimSet rows, const LoopGroup &columns,
                                       llvm::ArrayRef<Node *> roots);

} // namespace tessera::codegen
