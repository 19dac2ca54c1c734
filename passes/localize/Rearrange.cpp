// Dimensions repeated and reordered: broadcast_in_dim and transpose of the local parts.
//
//   // sharding [{"x"}, {"y"}], on x=2, y=4
//   stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
// becomes
//   stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
#include "passes/localize/Handlers.h"

using namespace mlir;

namespace tessera::localize {

LogicalResult localizeBroadcast(Localizer &l, Operation *op) {
  auto broadcast = cast<stablehlo::BroadcastInDimOp>(op);
  Value operand = broadcast.getOperand(), result = broadcast.getResult();
  const LocalLayout from = l.local(operand).layout;
  LocalLayout layout = l.annotated(result), want = l.whole(operand);
  for (auto [o, r] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
    if (shapeOf(operand)[o] != shapeOf(result)[r])
      continue;
    if (from.dims[o].axes == layout.dims[r].axes)
      layout.dims[r].tile = from.dims[o].tile;
    want.dims[o] = layout.dims[r];
  }
  want.partial = layout.partial;
  Value local = l.get(operand, want);
  layout.reduction = from.reduction;
  layout.partial = commonAxes(from.partial, layout.partial);
  Operation *made = l.copy(op, local, l.localType(result, layout));
  l.bind(result, made->getResult(0), layout);
  return success();
}

LogicalResult localizeTranspose(Localizer &l, Operation *op) {
  auto transpose = cast<stablehlo::TransposeOp>(op);
  Value operand = transpose.getOperand(), result = transpose.getResult();
  const LocalValue &from = l.local(operand);
  LocalLayout layout = from.layout;
  for (auto [r, o] : llvm::enumerate(transpose.getPermutation()))
    layout.dims[r] = from.layout.dims[o];
  Operation *made = l.copy(op, from.value, l.localType(result, layout));
  l.bind(result, made->getResult(0), layout);
  return success();
}

} // namespace tessera::localize
