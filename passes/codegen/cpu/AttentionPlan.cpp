// How many queries and keys an attention's cell has in its caches at a time.
#include "passes/codegen/cpu/Attention.h"
#include "passes/codegen/cpu/AttentionGradient.h"
#include "passes/codegen/kernel/Partition.h"

#include "llvm/ADT/DenseSet.h"
#include <numeric>

namespace tessera::codegen {

// Rows of probabilities begin in different sets of the first-level cache.
static constexpr int64_t rowPadding = 16;

// Keys and values of a panel are read from the second-level cache once for so many queries.
static constexpr int64_t blockQueries = 32, queriesOfTiles = 64;

AttentionPlan planAttention(AttentionLoops loops, Graph &graph, const VectorFeatures &features) {
  AttentionPlan plan;
  static_cast<ContractionLoops &>(plan.scores) = loops.scores;
  static_cast<ContractionLoops &>(plan.values) = loops.values;
  ContractionPlan &scores = plan.scores, &values = plan.values;
  bool byTiles = features.bf16Tiles && loops.scores.product->reduction->isOfBf16 &&
                 loops.values.product->reduction->isOfBf16;
  for (ContractionPlan *product : {&scores, &values}) {
    product->packsA = product->packsB = true;
    if (byTiles) {
      chooseUnits(*product, graph);
    } else {
      chooseTile(*product, features);
      choosePairs(*product, graph, features);
    }
  }
  chooseCopies(scores, graph);
  scores.acrossA &= !byTiles;
  scores.rows = values.rows = std::min(scores.rows, values.rows);
  AttentionCells cells =
      attentionCells(sizesOf(loops), values.rows, 2 * int64_t(features.bytes / 4));
  plan.strip = cells.strip;
  values.kSize = byTiles ? plan.strip : llvm::alignTo(plan.strip, 2) + rowPadding;
  scores.nChunk = plan.strip;
  values.nChunk = values.nSize;
  scores.mChunk = values.mChunk = cells.queries;
  scores.mPanel = values.mPanel = cells.queries;
  plan.block =
      llvm::alignTo(std::min(byTiles ? queriesOfTiles : blockQueries, cells.queries), values.rows);
  plan.loops = std::move(loops);
  return plan;
}

// The processor's tiles have one shape in a cell: of 32 rows.
static bool goesByTiles(const GradientLoops &loops, const VectorFeatures &features) {
  auto isOfBf16 = [](const ContractionLoops &own) { return own.product->reduction->isOfBf16; };
  return features.bf16Tiles && loops.rowCount >= 32 && loops.columnCount >= 32 &&
         llvm::all_of(loops.products, isOfBf16) &&
         llvm::all_of(loops.results, [&](const auto &result) { return isOfBf16(result.loops); });
}

// A factor lies one way for all results that it is multiplied for: in pairs only where each of them goes
// by pairs.
static void pairFactors(GradientPlan &plan) {
  llvm::SmallDenseSet<unsigned> single;
  for (auto [result, own] : llvm::zip(plan.loops.results, plan.results))
    if (!own.isPaired)
      single.insert(result.factor);
  for (auto [result, own] : llvm::zip(plan.loops.results, plan.results))
    if (own.isPaired && single.contains(result.factor)) {
      own.isPaired = false;
      own.a = result.loops.a, own.b = result.loops.b;
    }
}

// Products of a block lie in the scratch a tile after the other, where all that is left of them for results
// of columns are factors that are turned; else those read the whole block.
static int64_t partOfBlock(const GradientPlan &plan) {
  bool readsBlock = llvm::any_of(plan.loops.results, [&](const GradientLoops::Result &result) {
    return !result.isOfRows && !plan.isTurned(result.factor);
  });
  int64_t rows = std::lcm(plan.tileRows, plan.unit());
  return readsBlock
             ? plan.cells.block
             : std::min(plan.cells.block, static_cast<int64_t>(llvm::alignTo(blockQueries, rows)));
}

GradientPlan planGradient(GradientLoops loops, Graph &graph, const VectorFeatures &features) {
  GradientPlan plan;
  plan.byTiles = goesByTiles(loops, features);
  auto add = [&](auto &plans, const ContractionLoops &own) -> ContractionPlan & {
    ContractionPlan &product = plans.emplace_back();
    static_cast<ContractionLoops &>(product) = own;
    product.packsA = product.packsB = true;
    plan.byTiles ? chooseUnits(product, graph) : chooseTile(product, features);
    return product;
  };
  plan.tileRows = plan.columnRows = 32;
  for (const ContractionLoops &product : loops.products) {
    ContractionPlan &own = add(plan.products, product);
    if (!plan.byTiles)
      choosePairs(own, graph, features);
    chooseCopies(own, graph);
    own.acrossA &= !plan.byTiles;
    plan.tileRows = std::min(plan.tileRows, own.rows);
  }
  for (const GradientLoops::Result &result : loops.results) {
    ContractionPlan &own = add(plan.results, result.loops);
    if (!plan.byTiles)
      choosePairs(own, graph, features);
    int64_t &rows = result.isOfRows ? plan.tileRows : plan.columnRows;
    rows = std::min(rows, own.rows);
  }
  plan.loops = std::move(loops);
  pairFactors(plan);
  plan.cells = gradientCells(sizesOf(plan.loops), plan.tileRows, 2 * int64_t(features.bytes / 4),
                             plan.byTiles ? 128 : 64, plan.yields(/*ofRows=*/true),
                             plan.yields(/*ofRows=*/false));
  plan.stride = plan.cells.strip + 2 * rowPadding;
  plan.part = partOfBlock(plan);
  for (ContractionPlan &product : plan.products) {
    product.rows = plan.tileRows;
    product.nChunk = plan.cells.strip;
    product.mChunk = product.mPanel = plan.part;
  }
  for (auto [result, own] : llvm::zip(plan.loops.results, plan.results)) {
    own.rows = result.isOfRows ? plan.tileRows : plan.columnRows;
    own.nChunk = own.nSize;
    // Factors lie in rows of the block: a result of columns reads them across.
    own.acrossA = !result.isOfRows && !plan.byTiles;
    own.kSize = !result.isOfRows ? llvm::alignTo(plan.cells.block, 2)
                : plan.byTiles   ? plan.cells.strip
                                 : plan.stride;
    own.mChunk = own.mPanel = result.isOfRows ? plan.part : plan.stride;
  }
  return plan;
}

} // namespace tessera::codegen
