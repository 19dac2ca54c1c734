// The gradient of attention (kernel/GradientLoops.h): blocks of a plane of queries and keys.
#pragma once

#include "passes/codegen/cpu/Contraction.h"
#include "passes/codegen/kernel/GradientLoops.h"

namespace tessera::codegen {

struct GradientPlan {
  GradientLoops loops;
  GradientCells cells;
  llvm::SmallVector<ContractionPlan, 2> products; // by loops.products
  llvm::SmallVector<ContractionPlan, 3> results;  // by loops.results
  int64_t tileRows = 1;                           // of products and of results of rows
  int64_t columnRows = 1;                         // of a tile of results of columns
  int64_t stride = 0;                             // between rows of a block
  bool byTiles = false;                           // bf16 by the processor's
  // Blocks that lie in the scratch at a time: of products, then of factors in their place.
  size_t planes() const { return std::max(loops.products.size(), loops.factors.size()); }
  // Of bf16, whether a result of columns reads a factor: it is turned for that.
  bool isTurned(size_t factor) const {
    return byTiles && llvm::any_of(loops.results, [&](const auto &result) {
             return !result.isOfRows && result.factor == factor;
           });
  }
  bool yields(bool ofRows) const {
    return llvm::any_of(loops.results,
                        [&](const auto &result) { return result.isOfRows == ofRows; });
  }
};

GradientPlan planGradient(GradientLoops loops, Graph &graph, const VectorFeatures &features);

// Emits a kernel that is attention's gradient; `known` false: it is none.
bool emitAttentionGradient(KernelFunction &function, bool &known);

} // namespace tessera::codegen
