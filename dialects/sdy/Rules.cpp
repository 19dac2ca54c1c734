// Sharding rules between text and plain data.
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/ShardingRuleOpInterface.h"

#include "dialects/sdy/ShardingRuleOpInterface.cpp.inc"

using namespace mlir;

namespace tessera::sdy {
namespace {

std::vector<sharding::TensorFactors> toTensors(ArrayRef<TensorMappingAttr> mappings) {
  std::vector<sharding::TensorFactors> tensors;
  for (TensorMappingAttr mapping : mappings) {
    sharding::TensorFactors &tensor = tensors.emplace_back();
    for (DimMappingAttr dim : mapping.getDimMappings())
      tensor.emplace_back(dim.getFactorIndices().begin(), dim.getFactorIndices().end());
  }
  return tensors;
}

SmallVector<TensorMappingAttr> toMappings(MLIRContext *context,
                                          ArrayRef<sharding::TensorFactors> tensors,
                                          TypeRange types, SmallVectorImpl<int64_t> &sizes) {
  SmallVector<TensorMappingAttr> mappings;
  for (auto [tensor, type] : llvm::zip_equal(tensors, types)) {
    SmallVector<DimMappingAttr> dims;
    for (auto [d, dim] : llvm::enumerate(tensor)) {
      SmallVector<int64_t> factors(dim.begin(), dim.end());
      if (factors.empty()) {
        factors.push_back(sizes.size());
        sizes.push_back(cast<ShapedType>(type).getDimSize(d));
      }
      dims.push_back(DimMappingAttr::get(context, factors));
    }
    mappings.push_back(TensorMappingAttr::get(context, dims));
  }
  return mappings;
}

// Of an operation that nobody knows but by the user's rule, a dimension that no other tensor shares
// must be whole: the matrix dimensions of ([b, i, j]) -> ([b, k, l]).
void keepLonelyFactorsWhole(sharding::FactorRule &rule) {
  std::vector<int> tensors(rule.factors.size());
  for (const auto *list : {&rule.operands, &rule.results})
    for (const sharding::TensorFactors &tensor : *list)
      for (const sharding::DimFactors &dim : tensor)
        for (int32_t factor : dim)
          ++tensors[factor];
  for (auto [factor, count] : llvm::zip_equal(rule.factors, tensors))
    if (count <= 1 && factor.kind == sharding::FactorKind::PassThrough)
      factor.kind = sharding::FactorKind::NeedReplication;
}

} // namespace

sharding::FactorRule toRule(OpShardingRuleAttr attr) {
  sharding::FactorRule rule;
  for (int64_t size : attr.getFactorSizes())
    rule.factors.push_back({size});
  for (int64_t factor : attr.getReductionFactors())
    rule.factors[factor].kind = sharding::FactorKind::Reduction;
  for (int64_t factor : attr.getNeedReplicationFactors())
    rule.factors[factor].kind = sharding::FactorKind::NeedReplication;
  for (int64_t factor : attr.getPermutationFactors())
    rule.factors[factor].kind = sharding::FactorKind::Permutation;
  rule.operands = toTensors(attr.getOperandMappings());
  rule.results = toTensors(attr.getResultMappings());
  if (attr.getIsCustomRule())
    keepLonelyFactorsWhole(rule);
  return rule;
}

OpShardingRuleAttr toAttr(Operation *op, const sharding::FactorRule &rule) {
  MLIRContext *context = op->getContext();
  SmallVector<int64_t> sizes, sets[3];
  for (auto [i, factor] : llvm::enumerate(rule.factors)) {
    sizes.push_back(factor.size);
    if (factor.kind != sharding::FactorKind::PassThrough)
      sets[factor.kind == sharding::FactorKind::Reduction         ? 0
           : factor.kind == sharding::FactorKind::NeedReplication ? 1
                                                                  : 2]
          .push_back(i);
  }
  auto operands = toMappings(context, rule.operands, op->getOperandTypes(), sizes);
  auto results = toMappings(context, rule.results, op->getResultTypes(), sizes);
  return OpShardingRuleAttr::get(context, sizes, operands, results, sets[0], sets[1], sets[2], {},
                                 false);
}

// Every dimension passes through; operands without dimensions are the same for every element.
static sharding::FactorRule elementwiseRule(Operation *op) {
  sharding::FactorRule rule;
  sharding::TensorFactors all;
  for (int64_t size : cast<ShapedType>(op->getResult(0).getType()).getShape()) {
    all.push_back({static_cast<int32_t>(rule.factors.size())});
    rule.factors.push_back({size});
  }
  for (Type type : op->getOperandTypes())
    rule.operands.push_back(cast<ShapedType>(type).getRank() ? all : sharding::TensorFactors());
  rule.results.assign(op->getNumResults(), all);
  return rule;
}

std::optional<sharding::FactorRule> ownRule(Operation *op) {
  if (auto interface = dyn_cast<ShardingRuleOpInterface>(op))
    return interface.getShardingRule();
  auto isArray = [](Type type) { return isa<RankedTensorType>(type); };
  if (isElementwise(op) && llvm::all_of(op->getOperandTypes(), isArray) &&
      llvm::all_of(op->getResultTypes(), isArray))
    return elementwiseRule(op);
  return std::nullopt;
}

std::optional<sharding::FactorRule> getRule(Operation *op) {
  if (auto attr = op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr))
    return toRule(attr);
  return ownRule(op);
}

ArrayRef<int64_t> blockedFactors(Operation *op) {
  auto attr = op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr);
  return attr ? attr.getBlockedPropagationFactors() : ArrayRef<int64_t>();
}

} // namespace tessera::sdy
