// Writes the sharding rule of each op as the attribute sdy.sharding_rule. Passes.td shows an example.
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
