// Elementwise ops are the same op on the local parts.
//
//   %2 = stablehlo.add %0, %1 : tensor<8xf32>                 // sharding [{"x"}], x = 4
// becomes
//   %2 = stablehlo.add %0, %1 : tensor<2xf32>
#include "passes/localize/Handlers.h"
#include "passes/localize/RollPattern.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tessera::localize {

LogicalResult localizeElementwise(Localizer &l, Operation *op) {
  if (auto add = dyn_cast<stablehlo::AddOp>(op); add && localizeRoll(l, add))
    return success();
  Value result = op->getResult(0);
  int64_t rank = shapeOf(result).size();
  // The tiles of the first operand that lies as the result should; all else follows.
  LocalLayout layout = l.annotated(result);
  for (Value operand : op->getOperands())
    if (int64_t(shapeOf(operand).size()) == rank) {
      layout = l.annotatedLike(result, l.local(operand).layout);
      break;
    }
  SmallVector<Value> operands;
  AxisRefs partial;
  for (Value operand : op->getOperands()) {
    bool isScalar = rank > 0 && shapeOf(operand).empty();
    LocalLayout want = isScalar ? l.whole(operand) : layout;
    want.partial = layout.partial;
    operands.push_back(l.get(operand, want));
    const LocalLayout &from = l.local(operand).layout;
    AxisRefs kept = commonAxes(from.partial, want.partial);
    addAxes(partial, kept);
    if (!kept.empty())
      layout.reduction = from.reduction;
  }
  layout.partial = partial;
  SmallVector<Type> types;
  for (Value each : op->getResults())
    types.push_back(l.localType(each, layout));
  Operation *made = l.copy(op, operands, types);
  for (auto [global, local] : llvm::zip_equal(op->getResults(), made->getResults()))
    l.bind(global, local, layout);
  return success();
}

// The bits of one element may become a minor dimension, and back.
LogicalResult localizeBitcast(Localizer &l, Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  size_t from = shapeOf(operand).size(), to = shapeOf(result).size();
  if (from == to)
    return localizeElementwise(l, op);
  LocalLayout shared = l.local(operand).layout, want = shared;
  if (from > to) {
    want.dims.back() = wholeDim(shapeOf(operand).back());
    shared = want;
    shared.dims.pop_back();
  } else {
    shared.dims.push_back(wholeDim(shapeOf(result).back()));
  }
  want.partial.clear(), shared.partial.clear();
  Operation *made = l.copy(op, l.get(operand, want), l.localType(result, shared));
  l.bind(result, made->getResult(0), shared);
  return success();
}

// Each result is its operand.
LogicalResult localizeBarrier(Localizer &l, Operation *op) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op->getOperands()) {
    operands.push_back(l.local(operand).value);
    types.push_back(operands.back().getType());
  }
  Operation *made = l.copy(op, operands, types);
  for (auto [operand, global, local] :
       llvm::zip_equal(op->getOperands(), op->getResults(), made->getResults()))
    l.bind(global, local, LocalLayout(l.local(operand).layout));
  return success();
}

} // namespace tessera::localize
