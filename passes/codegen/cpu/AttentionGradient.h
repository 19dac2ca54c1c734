// The gradient of attention (kernel/GradientLoops.h): blocks of a plane of queries and keys.
#pragma once

#include "passes/codegen/cpu/Contraction.h"
#include "passes/codegen/kernel/GradientLoops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tessera::codegen {

struct GradientPlan {
  GradientLoops loops;
  GradientCells cells;
  llvm::SmallVector<ContractionPlan, 2> products; // by loops.products
  llvm::SmallVector<ContractionPlan, 3> results;  // by loops.results
  int64_t tileRows = 1;                           // of products and of results of rows
  int64_t columnRows = 1;                         // of a tile of results of columns
  int64_t stride = 0;                             // between rows of a block
  int64_t part = 0;                               // of its rows, that lie in the scratch at a time
  bool byTiles = false;                           // bf16 by the processor's
  // Parts of blocks that lie in the scratch at a time: of products, then of factors in their place.
  size_t planes() const { return std::max(loops.products.size(), loops.factors.size()); }
  // Whether a factor lies as bf16, as instructions that multiply pairs read it.
  bool isNarrow(size_t factor) const {
    return llvm::any_of(llvm::zip(loops.results, results), [&](auto pair) {
      auto &[result, own] = pair;
      return result.factor == factor && own.hasPairs();
    });
  }
  // Of these, whether a result of columns reads it: it is turned for that.
  bool isTurned(size_t factor) const {
    return isNarrow(factor) && llvm::any_of(loops.results, [&](const auto &result) {
             return !result.isOfRows && result.factor == factor;
           });
  }
  bool turnsFactors() const {
    return llvm::any_of(llvm::seq(loops.factors.size()), [&](size_t i) { return isTurned(i); });
  }
  // Of rows that are multiplied at a time.
  int64_t unit() const { return byTiles ? Reduction::tileUnit : 2; }
  bool yields(bool ofRows) const {
    return llvm::any_of(loops.results,
                        [&](const auto &result) { return result.isOfRows == ofRows; });
  }
};

GradientPlan planGradient(GradientLoops loops, Graph &graph, const VectorFeatures &features);

// Emits a kernel that is attention's gradient; `known` false: it is none.
bool emitAttentionGradient(KernelFunction &function, bool &known);

} // namespace tessera::codegen
