// Sums over columns of which the rows go past a row of sums.
//
//   y[n] = sum over k of x[k] * w[k, n]
//   ->  for each four of k's:  sums[n] += x[k] w[k, n] + .. + x[k + 3] w[k + 3, n], along n
//
// Each column by itself would read a piece of a line or four of every row: of an array that is in no
// cache it comes to as many pages as there are rows, and what is of rows alone (x) is computed for each
// few columns, one number at a time. This way the array is read as it lies, and x once.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"

#include <optional>

namespace tessera::codegen {

struct RowsPast {
  Reduction *reduction = nullptr;
  // What is of rows alone: computed once, and first by vectors along them where that is `dear`.
  llvm::SmallVector<Node *> ofRows;
  bool isDear = false;
  bool isFar = false; // an array is large, and its rows lie in pages of their own
};

// Whether the only sum in `live` that runs along `columns`, the innermost loop of the results, is
// better off so.
std::optional<RowsPast> rowsPast(const Graph &graph, const LoopGroup &columns,
                                 llvm::ArrayRef<Node *> live);

} // namespace tessera::codegen
