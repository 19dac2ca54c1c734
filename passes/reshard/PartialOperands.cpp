#include "passes/reshard/PartialOperands.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace tessera {

using sharding::OperandState;
using sharding::ReductionKind;

bool isNeutral(mlir::Value value, ReductionKind kind) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!llvm::isa<stablehlo::BroadcastInDimOp, sdy::ReshardOp>(op))
      break;
    value = op->getOperand(0);
  }
  return stablehlo::mayRepeat(value, kind);
}

static bool hasIntegers(mlir::TypeRange types) {
  return llvm::any_of(types, [](mlir::Type type) {
    auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
    return shaped && shaped.getElementType().isInteger();
  });
}

// Whether integers of a partial operand become integers of another width.
static bool rewraps(mlir::Operation *op, llvm::ArrayRef<bool> partial) {
  for (auto [operand, isPartial] : llvm::zip_equal(op->getOperands(), partial)) {
    mlir::Type from = mlir::getElementTypeOrSelf(operand.getType());
    for (mlir::Type result : op->getResultTypes())
      if (isPartial && from.isInteger() && mlir::getElementTypeOrSelf(result) != from)
        return true;
  }
  return false;
}

// Whether a part of a sum may be beyond the largest number of the narrower type, 6 to 57,344, that
// an operation makes of it.
static bool mayOverflow(mlir::Operation *op) {
  auto bits = [](mlir::Value value) {
    auto real = llvm::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType()));
    return real ? real.getWidth() : 0;
  };
  return llvm::isa<stablehlo::ConvertOp>(op) && bits(op->getResult(0)) <= 8 &&
         bits(op->getOperand(0)) > bits(op->getResult(0));
}

bool carriesPartial(mlir::Operation *op, llvm::ArrayRef<bool> partial, ReductionKind kind) {
  if (llvm::isa<stablehlo::OptimizationBarrierOp, sdy::ReshardOp>(op))
    return true;
  sharding::PartialLaw law = partialLawOf(op);
  bool isSum = kind == ReductionKind::Sum || kind == ReductionKind::Product;
  if (law == sharding::PartialLaw::None || (isSum && mayOverflow(op)))
    return false;
  llvm::SmallVector<OperandState> states;
  for (auto [operand, isPartial] : llvm::zip_equal(op->getOperands(), partial))
    states.push_back(isPartial                  ? OperandState::Partial
                     : isNeutral(operand, kind) ? OperandState::Neutral
                                                : OperandState::Whole);
  sharding::PartialQuery query{law, kind, states};
  query.integer = hasIntegers(op->getOperandTypes()) || hasIntegers(op->getResultTypes());
  query.rewraps = rewraps(op, partial);
  if (op->getNumRegions()) { // what it combines by
    if (op->getNumResults() > 1)
      return false;
    query.combiner = stablehlo::combinerOf(op->getRegion(0));
  }
  return sharding::commutesWithReduction(query);
}

} // namespace tessera
