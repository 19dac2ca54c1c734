// How code generation for CPUs divides a product into cells of a grid, on plain data: how often operands
// are copied follows from it.
#pragma once

#include "lib/cost/KernelWork.h"

namespace tessera::cost {

// Cells of a contraction: chunks of n, times chunks of m, times ranges of the outer loops' points.
struct ContractionCells {
  int64_t mChunk = 1, nChunk = 1, outerChunk = 1;
  int64_t kBlock = 0;         // of k that is copied at a time; 0: all
  int64_t nPanel = INT64_MAX; // columns of b that are copied at a time, where rows are one panel
  int64_t mPanel =
      1; // rows of a that are copied at a time, where they are: mChunk is a multiple, or all
};

// Whether results of few terms are computed row by row, rather than down their columns: as they lie then.
bool goesAlongRows(const Product &product, int64_t bytes);

// A chunk of `size` of about that many: the last one holds `least`, if it is not the only one.
int64_t atLeast(int64_t chunk, int64_t size, int64_t least);

// `rows` x `columns`: the tile that is held in registers; `bytes` of an element. With `inBlocks` a
// cell may go through k in blocks, and keep its sums between them.
ContractionCells contractionCells(const Product &product, int64_t rows, int64_t columns,
                                  int64_t bytes, bool inBlocks);
// The same by pairs of 16-bit numbers, in panels of both operands. `copiesFewRows`: those of a lie as they are
// copied.
ContractionCells pairCells(const Product &product, int64_t rows, int64_t columns, bool inBlocks,
                           bool copiesFewRows);
// The same where rows are those of a window's positions, `inner` of each, and are copied side by side.
void makeTall(ContractionCells &cells, const Product &product, int64_t inner, int64_t columns);
// The same where a few rows of a go past b, which is read where it lies: a block of its rows at a time,
// some lines of each.
void passRows(ContractionCells &cells, const Product &product, int64_t columns);
// The same where those few rows are the columns of a result, and b's columns its rows: these are copied
// by one vector at a time, some lines of each.
void narrowCells(ContractionCells &cells, const Product &product, int64_t columns);

// What a cell has in scratch, in bytes.
struct CellBytes {
  int64_t rowOfA = 0, columnOfB = 0; // of each row and column of a panel that is copied; 0: none is
  int64_t sum = 0;                   // of each sum that waits for the next block of k
  bool hasPanelsOfB = true;          // whether b may be copied by fewer columns than a cell has

  int64_t in(const ContractionCells &cells) const {
    return rowOfA * cells.mPanel + columnOfB * std::min(cells.nPanel, cells.nChunk) +
           sum * cells.mChunk * cells.nChunk;
  }
};
// The same with no more than so many bytes in scratch, or as few as there can be: what takes most is
// halved. Each sum is what it was. With all rows in a panel, b is copied by fewer columns at a time,
// which costs nothing; else cells are smaller, and operands copied more often.
//   rowOfA 1 KB, columnOfB 1 KB: cells of 64 x 128, b copied by 128  -> 64 x 128, by 32, for 96 KB
void fitInto(ContractionCells &cells, const Product &product, int64_t rows, int64_t columns,
             const CellBytes &bytes, int64_t most);

// Columns of a cell past which rows of a matrix go, of so many: some lines of each row, and work for some
// cores.
int64_t columnsPast(int64_t columns);
// With a tile of common size: which one it is depends on the processor.
ContractionCells commonCells(const Product &product, bool inBlocks);
// Likewise for products of bf16 by a processor's tiles, some twenty times as fast.
// `kBlock`: of k that is copied at a time; 0: all.
ContractionCells tileCells(const Product &product, int64_t rows, int64_t columns, int64_t kBlock);

// How often the operands of a shard of a product are copied, whose sizes are set, and how many cells it has,
// by how often those of the whole are. 0: cells of such products go by windows, and nothing is changed.
double setCopies(Product &shard, const Product &whole);

} // namespace tessera::cost
