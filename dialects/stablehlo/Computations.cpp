#include "dialects/stablehlo/Computations.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tessera::stablehlo {

bool isElementwise(Block &computation) {
  auto isInside = [&](Value value) { return value.getParentBlock() == &computation; };
  return llvm::all_of(computation.without_terminator(), [&](Operation &op) {
    return (tessera::isElementwise(&op) || isa<ConstantOp>(op)) && op.getNumResults() == 1 &&
           op.getNumRegions() == 0 &&
           cast<RankedTensorType>(op.getResult(0).getType()).getRank() == 0 &&
           llvm::all_of(op.getOperands(), isInside);
  });
}

SmallVector<Value> appliedToArrays(OpBuilder &b, Block &computation, ValueRange arrays) {
  auto shape = cast<RankedTensorType>(arrays[0].getType());
  IRMapping mapping;
  mapping.map(computation.getArguments(), arrays);
  for (Operation &op : computation.without_terminator()) {
    auto type = shape.clone(cast<RankedTensorType>(op.getResult(0).getType()).getElementType());
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto splat = cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type);
      mapping.map(constant.getResult(), ConstantOp::create(b, op.getLoc(), splat).getResult());
      continue;
    }
    b.clone(op, mapping)->getResult(0).setType(type);
  }
  return llvm::map_to_vector(computation.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

} // namespace tessera::stablehlo
