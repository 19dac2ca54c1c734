// Vectors across the ends of short rows.
//
//   out[r, c] = in[r, c] * scale[c] + shift[r]          three columns c
//
// A vector along the columns would be mostly empty. One over the points as they lie in `out` is full: of
// 16 lanes the first has r = 0, c = 0, the fourth r = 1, c = 0, and so on. What lies as `out` does is
// read as it lies; of other arrays a few neighbours are read, and spread over the lanes by one
// shuffle. After so many vectors as lanes and columns have in common the lanes are at columns as before.
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"

namespace tessera::codegen {

struct ShortRows {
  unsigned row, column; // the loops' last dimensions
  int64_t columns;
  int64_t first = 0; // point of the first lane, counted from the row that the loop is at

  int64_t vectorsOf(int64_t lanes) const; // until lanes are at the columns of the first again
  int64_t rowsTogether(int64_t lanes) const {
    return vectorsOf(lanes) * lanes / columns;
  } // in these
  // Of a lane the elements from the index at `row` and column 0.
  int64_t offsetOf(Index index, int64_t lane) const;
  // Whether it counts the points as they lie in the results.
  bool isAlong(Index index) const {
    return index->coefficient(row) == index->coefficient(column) * columns;
  }
};

// Whether the last two of `groups` are run so: all of the results are written as they lie, and of
// what is read the lanes' elements are near each other.
std::optional<ShortRows> shortRows(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                                   llvm::ArrayRef<Node *> live, llvm::ArrayRef<Index> stores);

} // namespace tessera::codegen
