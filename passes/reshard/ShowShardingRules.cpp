// Writes the sharding rule of each op as the attribute sdy.sharding_rule.
//
//   %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
// becomes
//   %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding_rule = #sdy.op_sharding_rule<([j,
//   i])->([i, j]) {i=8, j=4}>} : ..
//
// For reading and tests only: an attribute overrides the op's own rule from then on.
#include "dialects/sdy/PlainData.h"
#include "passes/reshard/Passes.h"

namespace tessera {

#define GEN_PASS_DEF_SHOWSHARDINGRULES
#include "passes/reshard/Passes.h.inc"

namespace {

struct ShowShardingRules : impl::ShowShardingRulesBase<ShowShardingRules> {
  void runOnOperation() override {
    getOperation().walk([](mlir::Operation *op) {
      if (op->hasAttr(sdy::kShardingRuleAttr))
        return;
      if (auto rule = sdy::ownRule(op))
        op->setAttr(sdy::kShardingRuleAttr, sdy::toAttr(op, *rule));
    });
  }
};

} // namespace
} // namespace tessera
