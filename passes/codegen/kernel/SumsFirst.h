// Sums of rows before what is made of them.
//
//   y[r] = log1p(exp(sum over c of x[r, c] * w[c]))
//   ->  for some r's: s[r] = the sum, by vectors along c; then y[r] of them, by vectors along r
//
// Vectors run along c, and so what follows from a sum would be computed one number at a time.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"

namespace tessera::codegen {

// The sums that `roots` are made of, which run along rows, where what is made of them is dear; empty:
// each result is computed by itself. `results`: the innermost loop of the results.
llvm::SmallVector<Node *> sumsFirst(const Graph &graph, const LoopGroup &results,
                                    llvm::ArrayRef<Node *> roots);

} // namespace tessera::codegen
