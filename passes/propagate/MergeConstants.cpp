// Merges copies of a constant expression that ended with the same sharding: the reverse of
// tessera-split-constants. A copy whose use was a constraint or a group that is gone by now goes,
// too. Passes.td shows an example.
#include "passes/propagate/ConstantExpressions.h"
#include "passes/propagate/Passes.h"

#include "mlir/IR/OperationSupport.h"
#include <unordered_map>

namespace tessera {
#define GEN_PASS_DEF_MERGECONSTANTS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

void mergeIn(Block &block, ConstantExpressions &expressions, SmallVectorImpl<Operation *> &kept) {
  std::unordered_multimap<size_t, Operation *> seen;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!expressions.add(&op)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          mergeIn(inner, expressions, kept);
      continue;
    }
    size_t hash = OperationEquivalence::computeHash(&op, OperationEquivalence::directHashValue,
                                                    OperationEquivalence::ignoreHashValue,
                                                    OperationEquivalence::IgnoreLocations);
    auto [begin, end] = seen.equal_range(hash);
    auto same = std::find_if(begin, end, [&](const auto &entry) {
      return OperationEquivalence::isEquivalentTo(entry.second, &op,
                                                  OperationEquivalence::IgnoreLocations);
    });
    if (same == end) {
      seen.emplace(hash, &op);
      kept.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(same->second);
    expressions.forget(&op);
    op.erase();
  }
}

struct MergeConstants : impl::MergeConstantsBase<MergeConstants> {
  void runOnOperation() override {
    ConstantExpressions expressions;
    SmallVector<Operation *> kept;
    mergeIn(*getOperation().getBody(), expressions, kept);
    for (Operation *op : llvm::reverse(kept))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
} // namespace tessera
