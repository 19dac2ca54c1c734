// How the loops of a nest, and the tiles of a contraction, are divided into cells of a grid. Never
// depends on the machine's number of cores.
#pragma once

#include "lib/cost/ProductCells.h"
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

using cost::atLeast;
using cost::columnsPast;
using cost::ContractionCells;
using cost::contractionCells;
using cost::makeTall;
using cost::narrowCells;
using cost::passRows;
using cost::tileCells;

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
