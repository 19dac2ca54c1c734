#include "passes/localize/IndexColumns.h"

using namespace mlir;

namespace tessera::localize {

int64_t componentCount(ArrayRef<int64_t> shape, int64_t vectorDim) {
  return vectorDim == int64_t(shape.size()) ? 1 : shape[vectorDim];
}

Value indexColumn(Localizer &l, Value indices, int64_t vectorDim, int64_t component, int64_t low,
                  int64_t high) {
  bool implicit = vectorDim == int64_t(shapeOf(indices).size());
  Value column = implicit ? indices : sliceRows(l, indices, vectorDim, component, component + 1);
  auto type = cast<RankedTensorType>(column.getType());
  auto element = cast<IntegerType>(type.getElementType());
  unsigned width = element.getWidth();
  // A bound that the type cannot hold bounds nothing.
  APInt most = element.isUnsigned() ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  if (width >= 64 || uint64_t(std::max<int64_t>(high, 0)) < most.getZExtValue())
    most = APInt(width, std::max<int64_t>(high, 0));
  APInt least =
      element.isUnsigned() && low < 0 ? APInt(width, 0) : APInt(width, low, /*isSigned=*/true);
  auto bound = [&](const APInt &value) -> Value {
    return stablehlo::ConstantOp::create(
        l.b, l.loc, DenseElementsAttr::get(type, IntegerAttr::get(element, value)));
  };
  OperationState state(l.loc, stablehlo::ClampOp::getOperationName(),
                       ValueRange{bound(least), column, bound(most)}, TypeRange{type});
  column = l.b.create(state)->getResult(0);
  if (element.isSignlessInteger(32))
    return column;
  return stablehlo::ConvertOp::create(l.b, l.loc, type.clone(l.b.getI32Type()), column);
}

Value joinColumns(Localizer &l, ArrayRef<Value> columns, ArrayRef<int64_t> shape,
                  int64_t vectorDim) {
  return vectorDim == int64_t(shape.size()) ? columns.front() : concatRows(l, columns, vectorDim);
}

} // namespace tessera::localize
