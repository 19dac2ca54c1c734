// Sums over columns in two stages, so that a kernel which goes over the rows may have the first.
//
//   sum of 8192 rows, in the order of docs/numbers.md      parts of 64 rows each, 128 of them;
//   = fours, sixteens of fours, sixteens of those, ..  ->  their sixteens, sixteens of those, ..
//
// A part is a node of the tree that the order of addition is, so the bits are those of one stage.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace tessera::fusion {

struct ColumnSumLimits {
  int64_t bytes = 256 << 10; // of the array: a smaller one stays in a cache between two kernels
  int64_t columns = 16;      // at least: fewer are no vector's work
  int64_t columnBytes = 256 << 10; // of a row of sums: some of them stay in a cache
  int64_t rows = 32, parts = 64;   // of a part, and how many of them there should be
};

// What a part has of each dimension: all of the inner ones of those that are summed, some of one, one
// of the outer ones; one of the columns'.
struct ColumnParts {
  llvm::SmallVector<int64_t, 6> window;
  // Terms of the innermost summed dimension that are added up in a part, where it has several parts of
  // that dimension; otherwise 1: the parts' sum is one like any other.
  int64_t summed = 1;
};

// `isSummed`: the dimensions that a sum goes over; `bytes` of an element as it is added. None where the
// sum is better off as it is.
std::optional<ColumnParts> columnParts(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<bool> isSummed,
                                       int64_t bytes, const ColumnSumLimits &limits = {});

} // namespace tessera::fusion
