// A product whose rows fall into groups, each with a matrix of its own: out[m, n] = sum over k of
// a[m, k] * b[group[m], k, n]. Rows of one group that lie together are a plain product with its matrix,
// so that the work is that of one product, however many groups there are.
#pragma once

#include "passes/codegen/kernel/ContractionLoops.h"

namespace tessera::codegen {

struct GroupedProduct : ContractionLoops { // `b` is the matrix of the group that `group` is at
  unsigned group = 0;                      // a dimension that no loop of the nest runs over
  Node *groupOfRow = nullptr;              // an i64, within the dimension
  // Of a row: where one of them does not hold, results don't depend on the product.
  llvm::SmallVector<Node *, 2> conditions;
};

// Empty when the nest is none. Adds the dimension to the nest's graph.
std::optional<GroupedProduct> findGroupedProduct(const NestGraph &nest);

} // namespace tessera::codegen
