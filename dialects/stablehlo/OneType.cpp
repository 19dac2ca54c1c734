// Types that agree up to what is not known, and operations whose operands and result have one type.
#include "dialects/stablehlo/Constraints.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;

namespace tessera::stablehlo {

bool elementsAgree(Type a, Type b) {
  auto x = dyn_cast<quant::QuantizedType>(a), y = dyn_cast<quant::QuantizedType>(b);
  return a == b || (x && y && x.getStorageType() == y.getStorageType() &&
                    x.isSigned() == y.isSigned() && x.getExpressedType() == y.getExpressedType());
}

bool typesAgree(Type a, Type b) {
  if (a == b)
    return true;
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  return x && y && elementsAgree(x.getElementType(), y.getElementType()) &&
         sameShape(x.getShape(), y.getShape()) && withinBounds(x.getShape(), y) &&
         withinBounds(y.getShape(), x);
}

bool typesAgree(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return typesAgree(std::get<0>(pair), std::get<1>(pair));
         });
}

bool isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  if (auto x = dyn_cast<quant::QuantizedType>(from)) {
    auto y = dyn_cast<quant::QuantizedType>(to);
    return y && x.getExpressedType() == y.getExpressedType() &&
           x.getStorageTypeIntegralWidth() <= y.getStorageTypeIntegralWidth();
  }
  auto x = dyn_cast<ComplexType>(from), y = dyn_cast<ComplexType>(to);
  if (x && y)
    return isPromotable(x.getElementType(), y.getElementType());
  bool kinds =
      (isa<IntegerType>(from) && isa<IntegerType>(to) && from.isInteger(1) == to.isInteger(1)) ||
      (isa<FloatType>(from) && isa<FloatType>(to));
  return kinds && from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

LogicalResult inferOneType(ValueRange operands, SmallVectorImpl<Type> &types) {
  if (operands.empty())
    return failure();
  auto first = dyn_cast<RankedTensorType>(operands[0].getType());
  if (!first || first.hasStaticShape()) {
    types.push_back(operands[0].getType());
    return success();
  }
  SmallVector<int64_t> shape(first.getShape());
  for (Value operand : operands.drop_front()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    for (auto [d, size] : llvm::enumerate(shape))
      if (type && type.getRank() == first.getRank() && ShapedType::isDynamic(size))
        size = type.getDimSize(d);
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType(), first.getEncoding()));
  return success();
}

LogicalResult verifyOneShape(Operation *op, int constraint) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Value value : values)
    if (failed(verifySameShape(op, "an operand or the result", value.getType(), "the first operand",
                               values[0].getType(), constraint)))
      return failure();
  return success();
}

LogicalResult verifyOneType(Operation *op, int constraint) {
  Type first = op->getNumOperands() ? op->getOperand(0).getType() : Type();
  auto check = [&](Type type, StringRef what) -> LogicalResult {
    if (typesAgree(first, type))
      return success();
    return violates(op, constraint) << "operands and result must have one type: " << what
                                    << " has type " << type << ", the first operand " << first;
  };
  for (Value operand : op->getOperands())
    if (failed(check(operand.getType(), "an operand")))
      return failure();
  for (Value result : op->getResults())
    if (failed(check(result.getType(), "the result")))
      return failure();
  return success();
}

} // namespace tessera::stablehlo
