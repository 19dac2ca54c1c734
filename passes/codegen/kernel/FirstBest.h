// Reducers that find the best number, and the first place where it is:
//
//   (a, i), (b, j) -> a > b or a is NaN ? (a, i) : a == b and i < j ? (a, i) : (b, j)      jnp.argmax
//
// What they find does not depend on the order that pairs are compared in.
#pragma once

#include "passes/codegen/kernel/Graph.h"

namespace tessera::codegen {

// Which numbers the reducer takes for better: those of pairs whose places increase along the loops.
Reduction::Best firstBestOf(const Graph &graph, const Reduction &reduction);

} // namespace tessera::codegen
