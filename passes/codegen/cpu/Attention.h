// Attention (kernel/AttentionLoops.h) by tiles: strips of keys go past the queries of a cell.
#pragma once

#include "passes/codegen/cpu/Contraction.h"
#include "passes/codegen/kernel/AttentionLoops.h"

namespace tessera::codegen {

struct AttentionPlan {
  AttentionLoops loops;
  // `scores` multiplies the cell's queries with a strip of keys; `values` a tile of probabilities,
  // rows of one strip, with the strip's values. Both have their operands in panels and the same
  // rows.
  ContractionPlan scores, values;
  int64_t strip = 0; // keys
  int64_t block = 0; // queries whose scores of a strip lie in the scratch at a time
  // Rows that have a place in a cell's scratch.
  int64_t cellRows() const { return llvm::alignTo(values.mChunk, values.rows); }
};

AttentionPlan planAttention(AttentionLoops loops, Graph &graph, const VectorFeatures &features);

// Emits a kernel that is attention; `known` false: it is none.
bool emitAttention(KernelFunction &function, bool &known);

} // namespace tessera::codegen
