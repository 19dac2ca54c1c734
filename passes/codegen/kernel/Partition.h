// How the loops of a nest, and the tiles of a contraction, are divided into cells of a grid. Never
// depends on the machine's number of cores.
#pragma once

#include "lib/cost/KernelWork.h"
#include "lib/fusion/AttentionStays.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::codegen {

// Cells of work over a nest of loops.
struct Partition {
  unsigned prefix = 0; // loops before this one: one index a cell
  int64_t chunks = 1;  // of loop `prefix`
  int64_t chunk = 1;   // its indices a cell
  int64_t cells = 1;
};
// A loop that cells may divide: chunks of it are multiples of `step`.
struct GridLoop {
  unsigned dim;
  int64_t size, step;
};
// `loops`: outer first; `work` of all their points.
Partition partitionWork(llvm::ArrayRef<GridLoop> loops, const cost::KernelWork &work);
// Indices of a loop with `inside` points inside it that are whole vectors, and `least` points.
int64_t wholeVectors(int64_t inside, int64_t least = 1);

// Cells of a contraction: chunks of n, times chunks of m, times ranges of the outer loops' points.
struct ContractionCells {
  int64_t mChunk = 1, nChunk = 1, outerChunk = 1;
  int64_t kBlock = 0;         // of k that is copied at a time; 0: all
  int64_t nPanel = INT64_MAX; // columns of b that are copied at a time, where rows are one panel
  int64_t mPanel =
      1; // rows of a that are copied at a time, where they are: mChunk is a multiple, or all
};
// `rows` x `columns`: the tile that is held in registers; `bytes` of an element. With `inBlocks` a
// cell may go through k in blocks, and keep its sums between them.
ContractionCells contractionCells(const cost::Product &product, int64_t rows, int64_t columns,
                                  int64_t bytes, bool inBlocks);
// The same where rows are those of a window's positions, `inner` of each, and are copied side by side.
void makeTall(ContractionCells &cells, const cost::Product &product, int64_t inner,
              int64_t columns);
// The same for products of bf16 by a processor's tiles, some twenty times as fast.
ContractionCells tileCells(const cost::Product &product, int64_t rows, int64_t columns);

// Cells of an attention: chunks of one head's queries, past which strips of keys go. Tiles have `rows`
// queries, and `columns` keys at most.
struct AttentionCells {
  int64_t queries = 1, strip = 1;
};
AttentionCells attentionCells(const fusion::Attention &attention, int64_t rows, int64_t columns);

// Cells of its gradient: chunks of one head's queries, where results of keys are not among what it
// yields, or of its keys, where those of queries are not. In a cell blocks of queries go past strips of
// keys.
struct GradientCells {
  int64_t block = 1, strip = 1;
  int64_t rowChunk = 1, columnChunk = 1;
};
// A block has about as many queries.
GradientCells gradientCells(const fusion::Attention &attention, int64_t rows, int64_t columns,
                            int64_t blockQueries, bool yieldsQueries, bool yieldsKeys);

} // namespace tessera::codegen
