// What a comparator orders the rows of a sort by, where that is one number of each row.
//
//   (a, b, i, j) -> compare LT, f(a), f(b), TOTALORDER      by f(a), from the smallest on
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/codegen/kernel/Graph.h"
#include "passes/codegen/kernel/KernelSource.h"

#include <optional>

namespace tessera::codegen {

struct SortOrder {
  mlir::Value key; // in the comparator, of its first row
  bool isDescending = false;
  bool isTotal = false; // of floats -NaN < -inf < .. < -0 < 0 < .. < NaN; else -0 equals 0
  int operand = -1;     // the operand that the key is, if it is one

  unsigned keyBits() const; // of an unsigned integer in the same order
  // Whether the first `kept` of so many rows are found without sorting the others; room is for so
  // many at a time.
  bool takesFirst(int64_t rows, int64_t kept) const;
  static int64_t roomForFirst(int64_t kept);
};

// The dimension that is sorted, counted from the first.
int64_t sortedDimensionOf(stablehlo::SortOp op);
// The place in its row, of `size`, of the element that comes to each position of loop `position`, of `kept`:
// given where it is known.
Node *sortedPlaceOf(Graph &graph, unsigned position, int64_t kept, int64_t size);
// The output that result `i` goes to, or its first rows; -1 if none is.
int sortOutputOf(const KernelSource &kernel, stablehlo::SortOp op, unsigned i);
// How many rows are outputs: the first ones, or all.
int64_t sortedRowsOf(const KernelSource &kernel, stablehlo::SortOp op);

// None where rows are compared by several numbers, or by what both of them have a part in.
std::optional<SortOrder> sortOrderOf(stablehlo::SortOp op);

} // namespace tessera::codegen
