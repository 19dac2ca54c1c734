// Terms of a product that both operands leave out, as where contracted elements fall into groups:
//
//   out[g, m, n] = sum over k of select(low[g] <= k < high[g], a[k, m], 0) * select(.., b[k, n], 0)
//
// has the terms [low[g], high[g]) of k; the others are products of zeros.
#pragma once

#include "passes/codegen/kernel/ContractionLoops.h"

namespace tessera::codegen {

// Of the flattened k: i64 nodes, of loops around the product's rows and columns. They may be beyond k,
// and low above high.
struct TermRange {
  Node *low = nullptr, *high = nullptr; // null: from the first term on; to the last one
};

// Empty where nothing says that there are such terms.
std::optional<TermRange> rangeOfTerms(Graph &graph, const ContractionLoops &loops);

} // namespace tessera::codegen
