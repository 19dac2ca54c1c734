// How many queries and keys an attention's cell has in its caches at a time.
#include "passes/codegen/cpu/Attention.h"
#include "passes/codegen/kernel/Partition.h"

namespace tessera::codegen {

// Rows of probabilities begin in different sets of the first-level cache.
static constexpr int64_t rowPadding = 16;

AttentionPlan planAttention(AttentionLoops loops, Graph &graph, const VectorFeatures &features) {
  AttentionPlan plan;
  static_cast<ContractionLoops &>(plan.scores) = loops.scores;
  static_cast<ContractionLoops &>(plan.values) = loops.values;
  ContractionPlan &scores = plan.scores, &values = plan.values;
  bool byTiles = features.bf16Tiles && loops.scores.product->reduction->isOfBf16 &&
                 loops.values.product->reduction->isOfBf16;
  for (ContractionPlan *product : {&scores, &values}) {
    product->packsA = product->packsB = true;
    byTiles ? chooseUnits(*product, graph) : chooseTile(*product, features);
  }
  chooseCopies(scores, graph);
  scores.acrossA &= !byTiles;
  scores.rows = values.rows = std::min(scores.rows, values.rows);
  AttentionCells cells =
      attentionCells(sizesOf(loops), values.rows, 2 * int64_t(features.bytes / 4));
  plan.strip = cells.strip;
  values.kSize = byTiles ? plan.strip : plan.strip + rowPadding;
  scores.nChunk = plan.strip;
  values.nChunk = values.nSize;
  scores.mChunk = values.mChunk = cells.queries;
  scores.mPanel = values.mPanel = cells.queries;
  plan.loops = std::move(loops);
  return plan;
}

} // namespace tessera::codegen
