#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/ElementwiseOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/ElementwiseOps.cpp.inc"
      >();
}

//===--------------------------------- Builders -------------------------------===//

static RankedTensorType withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}

static Type partType(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  auto complex = dyn_cast<ComplexType>(element);
  return withElement(value, complex ? complex.getElementType() : element);
}

void AbsOp::build(OpBuilder &builder, OperationState &state, Value operand) {
  build(builder, state, partType(operand), operand);
}
void RealOp::build(OpBuilder &builder, OperationState &state, Value operand) {
  build(builder, state, partType(operand), operand);
}
void ImagOp::build(OpBuilder &builder, OperationState &state, Value operand) {
  build(builder, state, partType(operand), operand);
}
void IsFiniteOp::build(OpBuilder &builder, OperationState &state, Value x) {
  build(builder, state, withElement(x, builder.getI1Type()), x);
}
void ComplexOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {
  build(builder, state, withElement(lhs, ComplexType::get(getElementTypeOrSelf(lhs.getType()))),
        lhs, rhs);
}
void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs,
                      ComparisonDirection direction, ComparisonType type) {
  auto typeAttr = type == ComparisonType::NOTYPE
                      ? ComparisonTypeAttr()
                      : ComparisonTypeAttr::get(builder.getContext(), type);
  build(builder, state, withElement(lhs, builder.getI1Type()), lhs, rhs,
        ComparisonDirectionAttr::get(builder.getContext(), direction), typeAttr);
}
void ClampOp::build(OpBuilder &builder, OperationState &state, Value min, Value operand,
                    Value max) {
  build(builder, state, operand.getType(), min, operand, max);
}
void SelectOp::build(OpBuilder &builder, OperationState &state, Value pred, Value onTrue,
                     Value onFalse) {
  build(builder, state, onTrue.getType(), pred, onTrue, onFalse);
}

//===------------------------------- Constraints ------------------------------===//

// Shapes are checked by the trait OneShape.

// The result's elements are the parts of a complex operand's.
static LogicalResult verifyPart(Operation *op) {
  return verifyElements(op, "the result", op->getResult(0).getType(), "a part of the operand",
                        partType(op->getOperand(0)), 2);
}
LogicalResult AbsOp::verify() { return verifyPart(*this); }
LogicalResult RealOp::verify() { return verifyPart(*this); }
LogicalResult ImagOp::verify() { return verifyPart(*this); }

LogicalResult AddOp::verify() {
  auto dim = [](Value value) -> std::optional<int32_t> {
    auto type = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(value.getType()));
    return type ? std::optional(type.getQuantizedDimension()) : std::nullopt;
  };
  // C2 to C4 are checked with C1: one type.
  std::optional<int32_t> lhs = dim(getLhs()), rhs = dim(getRhs()), result = dim(getResult());
  if ((lhs || rhs) != result.has_value())
    return violates(*this, 5) << "the result must be quantized per axis just when an operand is";
  for (auto [operand, constraint] : {std::pair(lhs, 6), std::pair(rhs, 7)})
    if (operand && operand != result)
      return violates(*this, constraint) << "an operand is quantized along dimension " << *operand
                                         << ", the result along " << *result;
  return success();
}

LogicalResult ComplexOp::verify() {
  if (!typesAgree(getLhs().getType(), getRhs().getType()))
    return violates(*this, 1) << "the parts have types " << getLhs().getType() << " and "
                              << getRhs().getType();
  return verifyElements(*this, "a part of the result", partType(getResult()), "lhs",
                        getLhs().getType(), 3);
}

LogicalResult CompareOp::verify() {
  Type lhs = getLhs().getType();
  if (failed(verifyElements(*this, "rhs", getRhs().getType(), "lhs", lhs, 1)))
    return failure();
  Type element = getElementTypeOrSelf(lhs);
  ComparisonType type = getCompareType().value_or(ComparisonType::NOTYPE);
  bool fits = type == ComparisonType::NOTYPE || isa<quant::QuantizedType>(element);
  if (isa<FloatType>(element))
    fits |= type == ComparisonType::FLOAT || type == ComparisonType::TOTALORDER;
  else if (isa<ComplexType>(element))
    fits |= type == ComparisonType::FLOAT;
  else if (element.isInteger(1) || element.isUnsignedInteger())
    fits |= type == ComparisonType::UNSIGNED;
  else
    fits |= type == ComparisonType::SIGNED;
  if (!fits)
    return violates(*this, 3) << "compare_type " << stringifyComparisonType(type)
                              << " does not fit elements " << element;
  return success();
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (isa<ComplexType>(from.getElementType()) != isa<ComplexType>(to.getElementType()))
    return violates(*this, 2) << "complex values may be cast to complex values only";
  auto width = [](Type element) -> int64_t {
    if (auto quantized = dyn_cast<quant::QuantizedType>(element))
      return quantized.getStorageTypeIntegralWidth();
    auto complex = dyn_cast<ComplexType>(element);
    Type part = complex ? complex.getElementType() : element;
    return part.isIntOrFloat() ? part.getIntOrFloatBitWidth() * (complex ? 2 : 1) : 0;
  };
  int64_t narrow = width(from.getElementType()), wide = width(to.getElementType());
  if (narrow == 0 || wide == 0)
    return success();
  // The wider one's shape, and the narrower one's, which has one dimension more.
  ArrayRef<int64_t> shorter = to.getShape(), longer = from.getShape();
  if (narrow > wide)
    std::swap(narrow, wide), std::swap(shorter, longer);
  if (narrow == wide) {
    if (!sameShape(shorter, longer))
      return violates(*this, 1) << "elements of one width keep their shape: " << from << ", " << to;
    return success();
  }
  if (longer.size() != shorter.size() + 1 || !sameShape(longer.drop_back(), shorter) ||
      !sameSize(longer.back(), wide / narrow))
    return violates(*this, 1) << "the type of narrower elements needs a last dimension of "
                              << wide / narrow << " more than the other: " << from << ", " << to;
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  if (int32_t(getExponentBits()) < 1)
    return violates(*this, 2) << "exponent_bits is " << int32_t(getExponentBits())
                              << ", at least 1 is needed";
  if (int32_t(getMantissaBits()) < 0)
    return violates(*this, 3) << "mantissa_bits is " << int32_t(getMantissaBits());
  return success();
}

LogicalResult SelectOp::verify() {
  RankedTensorType pred = getPred().getType(), onTrue = getOnTrue().getType(),
                   onFalse = getOnFalse().getType();
  if (pred.getRank() != 0 && !sameShape(pred.getShape(), onTrue.getShape()))
    return violates(*this, 1) << "pred has shape " << shapeText(pred.getShape()) << ", the values "
                              << shapeText(onTrue.getShape());
  if (!typesAgree(onTrue, onFalse) || !typesAgree(onTrue, getType()))
    return violates(*this, 2) << "on_true, on_false and the result must have one type: " << onTrue
                              << ", " << onFalse << ", " << getType();
  return success();
}

LogicalResult ClampOp::verify() {
  RankedTensorType type = getOperand().getType();
  for (auto [bound, constraint] : {std::pair(getMin(), 1), std::pair(getMax(), 2)}) {
    RankedTensorType boundType = bound.getType();
    if (boundType.getRank() != 0 && !sameShape(boundType.getShape(), type.getShape()))
      return violates(*this, constraint) << "a bound has shape " << shapeText(boundType.getShape())
                                         << ", the operand " << shapeText(type.getShape());
    if (!elementsAgree(boundType.getElementType(), type.getElementType()))
      return violates(*this, 3) << "a bound has elements " << boundType.getElementType()
                                << ", the operand " << type.getElementType();
  }
  if (!typesAgree(type, getType()))
    return violates(*this, 4) << "the result must have the operand's type " << type << ", not "
                              << getType();
  return success();
}

//===-------------------------------- Interfaces ------------------------------===//

ElementwiseKind DivOp::getElementwiseKind() { return ElementwiseKind::Compute; }

// A division by one number for all is a multiplication.
ElementWeight DivOp::getElementWeight() {
  auto divisor = getRhs().getDefiningOp<ConstantOp>();
  bool isFloat = isa<FloatType, ComplexType>(getElementTypeOrSelf(getType()));
  return divisor && isFloat && isa<SplatElementsAttr>(divisor.getValue())
             ? ElementWeight::Cheap
             : ElementWeight::Expensive;
}

ElementwiseKind BitcastConvertOp::getElementwiseKind() {
  return getOperand().getType().getShape() == getType().getShape() ? ElementwiseKind::Compute
                                                                   : ElementwiseKind::Regroup;
}

ElementWeight BitcastConvertOp::getElementWeight() { return ElementWeight::Cheap; }

} // namespace tessera::stablehlo
