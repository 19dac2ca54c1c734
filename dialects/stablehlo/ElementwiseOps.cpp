#include "dialects/stablehlo/StablehloAssembly.h"
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

LogicalResult BitcastConvertOp::verify() { return success(); }
LogicalResult ClampOp::verify() { return success(); }
LogicalResult ReducePrecisionOp::verify() { return success(); }
LogicalResult SelectOp::verify() { return success(); }

} // namespace tessera::stablehlo
