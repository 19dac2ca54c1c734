// A product with the matrices of all groups, of which each row keeps that of its own group:
//
//   sum over g of select(group[m] == g, sum over k of a[m, k] * b[g, k, n], 0)
//
// is computed as select(0 <= group[m] < groups, sum over k of a[m, k] * b[group[m], k, n], 0).
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::codegen {

// The product that such a sum selects from; null: it is another sum. That a row has one group at most
// is seen in the graph only (GraphBuilder::selectedTerm).
stablehlo::DotGeneralOp selectedProduct(stablehlo::ReduceOp op);

} // namespace tessera::codegen
