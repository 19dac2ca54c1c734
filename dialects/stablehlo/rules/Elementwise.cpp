// Ops of one element at a time that are no ElementwiseOpInterface: every dimension passes through.
//
//   map                        ([i, j], [i, j]) -> ([i, j])
//   optimization_barrier       ([i], [j, k]) -> ([i], [j, k])
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

sharding::FactorRule ruleOf(MapOp op) {
  RuleBuilder builder(op);
  llvm::SmallVector<int32_t> factors;
  for (int64_t size : shapeOf(op.getResult()))
    factors.push_back(builder.factor(size));
  for (mlir::OpOperand &operand : op->getOpOperands())
    builder.operand(operand.getOperandNumber(), factors);
  return builder.result(0, factors).take();
}

sharding::FactorRule ruleOf(OptimizationBarrierOp op) {
  RuleBuilder builder(op);
  for (mlir::OpResult result : op->getResults())
    for (auto [dim, size] : llvm::enumerate(shapeOf(result))) {
      int32_t factor = builder.factor(size);
      builder.operand(result.getResultNumber(), dim, factor);
      builder.result(result.getResultNumber(), dim, factor);
    }
  return builder.take();
}

} // namespace tessera::stablehlo
