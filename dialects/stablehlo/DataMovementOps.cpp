#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/DataMovementOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerDataMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/DataMovementOps.cpp.inc"
      >();
}

//===--------------------------------- Builders -------------------------------===//

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
}

void DynamicSliceOp::build(OpBuilder &builder, OperationState &state, Value operand,
                           ValueRange starts, ArrayRef<int64_t> sizes) {
  build(builder, state, withShape(operand, sizes), operand, starts, sizes);
}
void PadOp::build(OpBuilder &builder, OperationState &state, Value operand, Value value,
                  ArrayRef<int64_t> low, ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(operand.getType()).getShape());
  for (size_t i = 0; i < shape.size(); ++i)
    if (!ShapedType::isDynamic(shape[i]))
      shape[i] += low[i] + high[i] + std::max<int64_t>(shape[i] - 1, 0) * interior[i];
  build(builder, state, withShape(operand, shape), operand, value, low, high, interior);
}
void SliceOp::build(OpBuilder &builder, OperationState &state, Value operand,
                    ArrayRef<int64_t> start, ArrayRef<int64_t> limit, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < start.size(); ++i)
    shape.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
  build(builder, state, withShape(operand, shape), operand, start, limit, strides);
}
void TransposeOp::build(OpBuilder &builder, OperationState &state, Value operand,
                        ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(operand.getType()).getShape();
  SmallVector<int64_t> shape;
  for (int64_t d : permutation)
    shape.push_back(from[d]);
  build(builder, state, withShape(operand, shape), operand, permutation);
}

LogicalResult BroadcastInDimOp::verify() { return success(); }
LogicalResult BroadcastOp::verify() { return success(); }
LogicalResult ConcatenateOp::verify() { return success(); }
LogicalResult ConstantOp::verify() { return success(); }
LogicalResult DynamicSliceOp::verify() { return success(); }
LogicalResult DynamicUpdateSliceOp::verify() { return success(); }
LogicalResult GatherOp::verify() { return success(); }
LogicalResult IotaOp::verify() { return success(); }
LogicalResult PadOp::verify() { return success(); }
LogicalResult ReshapeOp::verify() { return success(); }
LogicalResult ReverseOp::verify() { return success(); }
LogicalResult SliceOp::verify() { return success(); }
LogicalResult TransposeOp::verify() { return success(); }

} // namespace tessera::stablehlo
