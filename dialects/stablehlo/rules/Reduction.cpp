// reduce: reduced dimensions reduce by the region's kind. Batch norms and sort.
//
//   reduce add over 1       ([i, j], []) -> ([i])     j reduces (sum)
//   argmax: two results     ([i, j], [i, j], [], []) -> ([i], [i])     j permutes: what shards make
//                                                         of their rows is gathered, and reduced
//   sort dim 1              ([i, j]) -> ([i, j])      j whole
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

using Kind = RuleBuilder::Kind;

namespace {

// Every operand and result is an image or one value a feature.
template <typename Op> sharding::FactorRule batchNormRule(Op op) {
  RuleBuilder builder(op);
  bool statistics = op->getNumResults() > 1; // over all dimensions but the feature
  llvm::SmallVector<int32_t> factors;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0))))
    factors.push_back(builder.factor(
        size, statistics && int64_t(dim) != int64_t(op.getFeatureIndex()) ? Kind::NeedReplication
                                                                          : Kind::PassThrough));
  int32_t feature = factors[op.getFeatureIndex()];
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    if (shapeOf(operand.get()).size() == factors.size() && factors.size() > 1)
      builder.operand(operand.getOperandNumber(), factors);
    else
      builder.operand(operand.getOperandNumber(), 0, feature);
  }
  for (mlir::OpResult result : op->getResults()) {
    if (shapeOf(result).size() == factors.size() && factors.size() > 1)
      builder.result(result.getResultNumber(), factors);
    else
      builder.result(result.getResultNumber(), 0, feature);
  }
  return builder.take();
}

} // namespace

sharding::FactorRule ruleOf(ReduceOp op) {
  RuleBuilder builder(op);
  Kind reduced = Kind::NeedReplication, first = Kind::NeedReplication;
  auto by = sharding::ReductionKind::Sum;
  if (std::optional<sharding::ReductionKind> combiner = combinerOf(op.getBody())) {
    by = *combiner;
    // Any other start would be added once more by each shard.
    if (llvm::all_of(op.getInitValues(), [&](mlir::Value init) { return mayRepeat(init, by); }))
      reduced = first = Kind::Reduction;
  } else {
    // Parts are reduced in the order of their rows: only the first dimension may have some.
    first = Kind::Permutation;
  }
  size_t inputs = op.getInputs().size(), at = 0;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    bool gone = llvm::is_contained(op.getDimensions(), int64_t(dim));
    Kind kind = !gone ? Kind::PassThrough : size > 1 ? std::exchange(first, reduced) : reduced;
    int32_t factor = builder.factor(size, kind, by);
    for (size_t i = 0; i < inputs; ++i) {
      builder.operand(i, dim, factor);
      if (!gone)
        builder.result(i, at, factor);
    }
    at += !gone;
  }
  return builder.take();
}

sharding::FactorRule ruleOf(SortOp op) {
  RuleBuilder builder(op);
  int64_t rank = shapeOf(op.getInputs()[0]).size();
  int64_t sorted = int64_t(op.getDimension());
  if (sorted < 0)
    sorted += rank;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    int32_t factor =
        builder.factor(size, int64_t(dim) == sorted ? Kind::NeedReplication : Kind::PassThrough);
    for (size_t i = 0; i < op.getInputs().size(); ++i)
      builder.operand(i, dim, factor).result(i, dim, factor);
  }
  return builder.take();
}

sharding::FactorRule ruleOf(BatchNormInferenceOp op) { return batchNormRule(op); }
sharding::FactorRule ruleOf(BatchNormTrainingOp op) { return batchNormRule(op); }
sharding::FactorRule ruleOf(BatchNormGradOp op) { return batchNormRule(op); }

} // namespace tessera::stablehlo
