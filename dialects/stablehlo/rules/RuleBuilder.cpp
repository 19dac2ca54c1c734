#include "dialects/stablehlo/rules/RuleBuilder.h"

namespace tessera::stablehlo {

RuleBuilder::RuleBuilder(mlir::Operation *op) {
  for (mlir::Value operand : op->getOperands())
    rule.operands.emplace_back(shapeOf(operand).size());
  for (mlir::Value result : op->getResults())
    rule.results.emplace_back(shapeOf(result).size());
}

int32_t RuleBuilder::factor(int64_t size, Kind kind, sharding::ReductionKind reduction) {
  rule.factors.push_back({size, kind, reduction});
  return rule.factors.size() - 1;
}

RuleBuilder &RuleBuilder::operand(size_t index, size_t dim, int32_t factor) {
  rule.operands[index][dim].push_back(factor);
  return *this;
}

RuleBuilder &RuleBuilder::result(size_t index, size_t dim, int32_t factor) {
  rule.results[index][dim].push_back(factor);
  return *this;
}

RuleBuilder &RuleBuilder::operand(size_t index, llvm::ArrayRef<int32_t> factors) {
  for (size_t dim = 0; dim < factors.size(); ++dim)
    operand(index, dim, factors[dim]);
  return *this;
}

RuleBuilder &RuleBuilder::result(size_t index, llvm::ArrayRef<int32_t> factors) {
  for (size_t dim = 0; dim < factors.size(); ++dim)
    result(index, dim, factors[dim]);
  return *this;
}

} // namespace tessera::stablehlo
