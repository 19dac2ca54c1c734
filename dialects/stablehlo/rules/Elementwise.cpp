// Ops of one element at a time: every dimension passes through.
//
//   add, select, compare, ..   ([i, j], [i, j]) -> ([i, j])
//   select, clamp by scalars   ([], [i, j], [i, j]) -> ([i, j])
//   optimization_barrier       ([i], [j, k]) -> ([i], [j, k])
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {
namespace {

// Operands without dimensions are the same for every element.
sharding::FactorRule elementwise(mlir::Operation *op) {
  RuleBuilder builder(op);
  llvm::SmallVector<int32_t> factors;
  for (int64_t size : shapeOf(op->getResult(0)))
    factors.push_back(builder.factor(size));
  for (mlir::OpOperand &operand : op->getOpOperands())
    if (shapeOf(operand.get()).size() == factors.size())
      builder.operand(operand.getOperandNumber(), factors);
  for (mlir::OpResult result : op->getResults())
    builder.result(result.getResultNumber(), factors);
  return builder.take();
}

template <typename Op> sharding::FactorRule elementwiseRule(Op op) { return elementwise(op); }

sharding::FactorRule barrierRule(OptimizationBarrierOp op) {
  RuleBuilder builder(op);
  for (mlir::OpResult result : op->getResults())
    for (auto [dim, size] : llvm::enumerate(shapeOf(result))) {
      int32_t factor = builder.factor(size);
      builder.operand(result.getResultNumber(), dim, factor);
      builder.result(result.getResultNumber(), dim, factor);
    }
  return builder.take();
}

template <typename... Ops> void attachElementwise(mlir::MLIRContext *context) {
  (attach<Ops, elementwiseRule<Ops>>(context), ...);
}

} // namespace

void attachElementwiseRules(mlir::MLIRContext *context) {
  attachElementwise<AbsOp, CbrtOp, CeilOp, ClzOp, ConvertOp, CosineOp, ExpOp, Expm1Op, FloorOp,
                    ImagOp, IsFiniteOp, Log1pOp, LogOp, LogisticOp, NegOp, NotOp, PopulationCountOp,
                    RealOp, ReducePrecisionOp, RoundNearestAfzOp, RoundNearestEvenOp, RsqrtOp,
                    SignOp, SineOp, SqrtOp, TanOp, TanhOp, UniformQuantizeOp, UniformDequantizeOp>(
      context);
  attachElementwise<AddOp, AndOp, Atan2Op, CompareOp, ComplexOp, DivOp, MaxOp, MinOp, MulOp, OrOp,
                    PowOp, RemOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp,
                    SubtractOp, XorOp>(context);
  attachElementwise<ClampOp, SelectOp, MapOp>(context);
  attach<OptimizationBarrierOp, barrierRule>(context);
}

} // namespace tessera::stablehlo
