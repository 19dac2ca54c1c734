// dot_general and dot: contracted dimensions reduce.
//
//   dot_general batching [0] x [0], contracting [2] x [2]   ([b, m, k], [b, n, k]) -> ([b, m, n])
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

namespace {

sharding::FactorRule contraction(mlir::Operation *op, llvm::ArrayRef<int64_t> lhsBatch,
                                 llvm::ArrayRef<int64_t> rhsBatch,
                                 llvm::ArrayRef<int64_t> lhsContracting,
                                 llvm::ArrayRef<int64_t> rhsContracting) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> lhs = shapeOf(op->getOperand(0)), rhs = shapeOf(op->getOperand(1));
  size_t at = 0; // dimension of the result: batch, then lhs's own, then rhs's own
  for (auto [l, r] : llvm::zip_equal(lhsBatch, rhsBatch)) {
    int32_t factor = builder.factor(lhs[l]);
    builder.operand(0, l, factor).operand(1, r, factor).result(0, at++, factor);
  }
  for (size_t d = 0; d < lhs.size(); ++d)
    if (!llvm::is_contained(lhsBatch, int64_t(d)) &&
        !llvm::is_contained(lhsContracting, int64_t(d))) {
      int32_t factor = builder.factor(lhs[d]);
      builder.operand(0, d, factor).result(0, at++, factor);
    }
  for (size_t d = 0; d < rhs.size(); ++d)
    if (!llvm::is_contained(rhsBatch, int64_t(d)) &&
        !llvm::is_contained(rhsContracting, int64_t(d))) {
      int32_t factor = builder.factor(rhs[d]);
      builder.operand(1, d, factor).result(0, at++, factor);
    }
  for (auto [l, r] : llvm::zip_equal(lhsContracting, rhsContracting)) {
    int32_t factor = builder.factor(lhs[l], RuleBuilder::Kind::Reduction);
    builder.operand(0, l, factor).operand(1, r, factor);
  }
  return builder.take();
}

} // namespace

sharding::FactorRule ruleOf(DotGeneralOp op) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  return contraction(op, dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
                     dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
}

sharding::FactorRule ruleOf(DotOp op) {
  int64_t last = int64_t(shapeOf(op.getLhs()).size()) - 1;
  return contraction(op, {}, {}, {last}, {0});
}

} // namespace tessera::stablehlo
