// Sorting along a dimension that lies on several devices, with two exchanges of all rows.
//
// After Leighton 1985, Tight Bounds on the Complexity of Parallel Sorting ("columnsort"): devices
// are the columns of a matrix. Each sorts its rows; deals them out, row q to column q mod p; sorts;
// sends its j-th part to column j; sorts. Now at most p * p / 4 elements lie on the wrong side of a
// boundary between columns: neighbours give each other that many, and each sorts them with its own
// (p-1)(p-1) nearest to the boundary.
//
//   p = 2, rows  5 3 8 1 | 7 2 6 4        sorted      1 3 5 8 | 2 4 6 7
//                                         dealt       1 5 2 6 | 3 8 4 7
//                                         sorted      1 2 5 6 | 3 4 7 8
//                                         parts       1 2 3 4 | 5 6 7 8     (at most 1 is off)
//
// How much is sent depends on sizes only. docs/rationale/distributed-sort.md has the lower bound.
#pragma once

#include <cstdint>
#include <optional>

namespace tessera::sharding {

struct ColumnSort {
  int64_t size, shards;
  int64_t tile;     // rows that a device holds, before and after
  int64_t rows;     // the same with room for equal parts: a multiple of `shards`
  int64_t boundary; // own rows about a boundary that may have to make room
  int64_t crossing; // rows about a boundary that may lie on the wrong side of it

  int64_t part() const { return rows / shards; } // that each device sends to each other one
  bool padded() const { return shards * rows != size; }
};

// None where rows about one boundary would be rows about another, too.
std::optional<ColumnSort> planColumnSort(int64_t size, int64_t shards);

} // namespace tessera::sharding
