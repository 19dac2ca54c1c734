// Ops that repeat, order or make values, one dimension at a time.
//
//   broadcast_in_dim 8x1 -> 4x8x16, dims = [1, 2]   ([j, l]) -> ([i, j, k])  {l=1}
//   transpose, dims = [1, 0]                        ([j, i]) -> ([i, j])
//   constant, iota                                  () -> ([i, j])
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

namespace {

template <typename Op> sharding::FactorRule sourceRule(Op op) {
  RuleBuilder builder(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOutput())))
    builder.result(0, dim, builder.factor(size));
  return builder.take();
}

} // namespace

sharding::FactorRule ruleOf(BroadcastInDimOp op) {
  RuleBuilder builder(op);
  llvm::SmallVector<int32_t> factors;
  for (int64_t size : shapeOf(op.getResult()))
    factors.push_back(builder.factor(size));
  builder.result(0, factors);
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getOperand()), into = shapeOf(op.getResult());
  for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions()))
    builder.operand(0, dim,
                    shape[dim] == into[target] ? factors[target] : builder.factor(shape[dim]));
  return builder.take();
}

sharding::FactorRule ruleOf(BroadcastOp op) {
  RuleBuilder builder(op);
  size_t added = op.getBroadcastSizes().size();
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getResult()))) {
    int32_t factor = builder.factor(size);
    builder.result(0, dim, factor);
    if (dim >= added)
      builder.operand(0, dim - added, factor);
  }
  return builder.take();
}

sharding::FactorRule ruleOf(TransposeOp op) {
  RuleBuilder builder(op);
  for (auto [dim, from] : llvm::enumerate(op.getPermutation())) {
    int32_t factor = builder.factor(shapeOf(op.getOperand())[from]);
    builder.operand(0, from, factor).result(0, dim, factor);
  }
  return builder.take();
}

sharding::FactorRule ruleOf(ConstantOp op) { return sourceRule(op); }
sharding::FactorRule ruleOf(IotaOp op) { return sourceRule(op); }

} // namespace tessera::stablehlo
