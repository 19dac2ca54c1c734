#include "dialects/comm/ShardingRules.h"

#include "dialects/comm/CommOps.h"
#include "dialects/sdy/ShardingRuleOpInterface.h"

namespace tessera::comm {
namespace {

using sharding::FactorKind;

// Operand and result i go together, and with no others. The dimensions that a collective splits or
// puts together are needed whole:
//
//   all_reduce               ([i, j]) -> ([i, j])
//   all_gather, dim 1        ([i, j]) -> ([i, k])      j, k need replication
//   all_to_all, dims 0, 1    ([i, j]) -> ([k, l])      all need replication
sharding::FactorRule ruleOf(mlir::Operation *op) {
  llvm::SmallVector<int64_t, 2> along;
  for (llvm::StringRef name : {"dim", "concat_dim"})
    if (auto attr = llvm::dyn_cast_or_null<mlir::IntegerAttr>(
            op->getInherentAttr(name).value_or(mlir::Attribute())))
      along.push_back(attr.getInt());
  sharding::FactorRule rule;
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    auto before = llvm::cast<mlir::ShapedType>(operand.getType()).getShape();
    auto after = llvm::cast<mlir::ShapedType>(result.getType()).getShape();
    sharding::TensorFactors from, to;
    auto factor = [&](int64_t size, FactorKind kind) {
      rule.factors.push_back({size, kind});
      return static_cast<int32_t>(rule.factors.size() - 1);
    };
    for (size_t d = 0; d < before.size(); ++d) {
      bool whole = llvm::is_contained(along, static_cast<int64_t>(d));
      FactorKind kind = whole ? FactorKind::NeedReplication : FactorKind::PassThrough;
      from.push_back({factor(before[d], kind)});
      to.push_back(whole ? sharding::DimFactors{factor(after[d], kind)} : from.back());
    }
    rule.operands.push_back(std::move(from));
    rule.results.push_back(std::move(to));
  }
  return rule;
}

template <typename Op> struct Rule : sdy::ShardingRuleOpInterface::ExternalModel<Rule<Op>, Op> {
  sharding::FactorRule getShardingRule(mlir::Operation *op) const { return ruleOf(op); }
};

template <typename... Ops> void attach(mlir::MLIRContext *context) {
  (Ops::template attachInterface<Rule<Ops>>(*context), ...);
}

} // namespace

void registerCommShardingRules(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, CommDialect *) {
    attach<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, PermuteOp, ShiftOp, BroadcastOp,
           SliceOp, TransferOp>(context);
  });
}

} // namespace tessera::comm
