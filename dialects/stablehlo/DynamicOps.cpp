#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/DynamicOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerDynamicOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/DynamicOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

// A vector of one number a dimension of a tensor of rank `rank`.
static LogicalResult verifyPerDimension(Operation *op, StringRef name, Value vector, int64_t rank,
                                        int constraint) {
  auto type = cast<RankedTensorType>(vector.getType());
  if (type.getRank() == 1 && type.getDimSize(0) == rank)
    return success();
  return violates(op, constraint) << name << " must have one number for each of " << rank
                                  << " dimensions, not type " << type;
}

// The sizes of a result that are known twice agree.
static LogicalResult verifySizes(Operation *op, Value sizes, RankedTensorType result,
                                 int constraint) {
  DenseIntElementsAttr values;
  if (!matchPattern(sizes, m_Constant(&values)))
    return success();
  for (auto [d, size] : llvm::enumerate(values.getValues<APInt>()))
    if (size.isNegative() || !sameSize(size.getSExtValue(), result.getDimSize(d)))
      return violates(op, constraint) << "dimension " << d << " has size " << size.getSExtValue()
                                      << " by the operand, the result is " << result;
  return success();
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (failed(verifyBroadcast(*this, from, to, getBroadcastDimensions())) ||
      failed(
          verifyPerDimension(*this, "output_dimensions", getOutputDimensions(), to.getRank(), 7)) ||
      failed(verifySizes(*this, getOutputDimensions(), to, 7)))
    return failure();
  SmallVector<int64_t> known;
  for (auto [dims, name, constraint] :
       {std::tuple(getKnownExpandingDimensions(), "known_expanding_dimensions", 9),
        std::tuple(getKnownNonexpandingDimensions(), "known_nonexpanding_dimensions", 10)}) {
    if (!dims)
      continue;
    llvm::append_range(known, *dims);
    if (failed(verifyDims(*this, name, *dims, from.getRank(), constraint, 8)))
      return failure();
  }
  if (!isUnique(known))
    return violates(*this, 8) << "a dimension is known both as expanding and as not expanding";
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  RankedTensorType type = getOperand().getType(), indices = getStartIndices().getType();
  GatherDimensionNumbersAttr dims = getDimensionNumbers();
  ArrayRef<int64_t> offset = dims.getOffsetDims(), collapsed = dims.getCollapsedSliceDims(),
                    map = dims.getStartIndexMap();
  SmallVector<int64_t> dropped(collapsed);
  llvm::append_range(dropped, dims.getOperandBatchingDims());
  int64_t rank = type.getRank(), vectorDim = dims.getIndexVectorDim();
  if (rank != int64_t(offset.size() + dropped.size()))
    return violates(*this, 1) << "an operand of rank " << rank << " with " << offset.size()
                              << " offset and " << dropped.size() << " collapsed dimensions";
  if (vectorDim < 0 || vectorDim > indices.getRank())
    return violates(*this, 2) << "index_vector_dim is " << vectorDim << ", the indices have rank "
                              << indices.getRank();
  int64_t components = vectorDim < indices.getRank() ? indices.getDimSize(vectorDim) : 1;
  if (!sameSize(map.size(), components))
    return violates(*this, 3) << "start_index_map has " << map.size() << " entries for "
                              << components << " index components";
  if (!isSorted(offset))
    return violates(*this, 4) << "offset_dims " << shapeText(offset) << " must be sorted";
  if (!isSorted(collapsed))
    return violates(*this, 6) << "collapsed_slice_dims " << shapeText(collapsed)
                              << " must be sorted";
  if (failed(verifyDims(*this, "offset_dims", offset, getType().getRank(), 5, 4)) ||
      failed(verifyDims(*this, "collapsed_slice_dims", dropped, rank, 7, 6)) ||
      failed(verifyDims(*this, "start_index_map", map, rank, 10, 9)) ||
      failed(verifyPerDimension(*this, "slice_sizes", getSliceSizes(), rank, 11)) ||
      failed(verifyElements(*this, "the result", getType(), "the operand", type, 14)))
    return failure();
  DenseIntElementsAttr constant;
  if (matchPattern(getSliceSizes(), m_Constant(&constant)))
    for (auto [d, value] : llvm::enumerate(constant.getValues<APInt>())) {
      int64_t size = value.getSExtValue();
      if (size < 0 || (!type.isDynamicDim(d) && size > type.getDimSize(d)))
        return violates(*this, 12)
               << "takes " << size << " of dimension " << d << ", which has " << type.getDimSize(d);
      if (size > 1 && llvm::is_contained(dropped, int64_t(d)))
        return violates(*this, 8) << "dimension " << d << " is dropped, yet its slice has size "
                                  << size;
    }
  return verifyInferredShapes(*this, 13);
}

LogicalResult DynamicIotaOp::verify() {
  int64_t rank = getType().getRank(), d = getIotaDimension();
  if (d < 0 || d >= rank)
    return violates(*this, 1) << "iota_dimension is " << d << ", the result has rank " << rank;
  return failure(failed(verifyPerDimension(*this, "output_shape", getOutputShape(), rank, 2)) ||
                 failed(verifySizes(*this, getOutputShape(), getType(), 2)));
}

LogicalResult DynamicPadOp::verify() {
  RankedTensorType type = getOperand().getType(), value = getPaddingValue().getType();
  if (failed(verifyElements(*this, "the padding value", value, "the operand", type, 1)) ||
      failed(verifyElements(*this, "the result", getType(), "the operand", type, 1)))
    return failure();
  if (value.getRank() != 0)
    return violates(*this, 1) << "the padding value must be a scalar, not " << value;
  int64_t rank = type.getRank();
  for (Value vector : {getEdgePaddingLow(), getEdgePaddingHigh(), getInteriorPadding()})
    if (failed(verifyPerDimension(*this, "a padding", vector, rank, 2)))
      return failure();
  DenseIntElementsAttr interior;
  if (matchPattern(getInteriorPadding(), m_Constant(&interior)))
    for (const APInt &inside : interior.getValues<APInt>())
      if (inside.isNegative())
        return violates(*this, 3) << "interior padding is " << inside.getSExtValue();
  if (getType().getRank() != rank)
    return violates(*this, 4) << "the result has rank " << getType().getRank() << ", the operand "
                              << rank;
  return verifyInferredShapes(*this, 4);
}

LogicalResult DynamicReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (failed(verifyReshape(*this, from, to)))
    return failure();
  if (isa<quant::UniformQuantizedPerAxisType>(from.getElementType()) !=
      isa<quant::UniformQuantizedPerAxisType>(to.getElementType()))
    return violates(*this, 3) << "operand and result must both be quantized per axis: " << from
                              << ", " << to;
  return failure(
      failed(verifyPerDimension(*this, "output_shape", getOutputShape(), to.getRank(), 4)) ||
      failed(verifySizes(*this, getOutputShape(), to, 4)));
}

// real_dynamic_slice and set_dimension_size are not in the specification: no numbers to name.
LogicalResult RealDynamicSliceOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (from.getElementType() != getType().getElementType() || from.getRank() != getType().getRank())
    return emitOpError() << "the result must have the operand's rank and elements: " << from << ", "
                         << getType();
  for (Value vector : {Value(getStartIndices()), Value(getLimitIndices()), Value(getStrides())}) {
    auto type = cast<RankedTensorType>(vector.getType());
    if (type.getRank() != 1 || type.getDimSize(0) != from.getRank())
      return emitOpError() << "needs one start, limit and stride for each of " << from.getRank()
                           << " dimensions";
    if (type != getStartIndices().getType())
      return emitOpError() << "needs starts, limits and strides of one type, not "
                           << getStartIndices().getType() << " and " << type;
  }
  return success();
}

LogicalResult SetDimensionSizeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  int64_t d = getDimension();
  if (d < 0 || d >= from.getRank())
    return emitOpError() << "dimension is " << d << ", the operand has rank " << from.getRank();
  RankedTensorType size = getSize().getType();
  if (size.getRank() != 0 || !size.getElementType().isSignlessInteger(32))
    return emitOpError() << "takes a scalar size of i32, not " << size;
  SmallVector<int64_t> shape(from.getShape());
  shape[d] = ShapedType::kDynamic;
  if (from.getElementType() != to.getElementType() || !sameShape(to.getShape(), shape))
    return emitOpError() << "the result must have the operand's type but for dimension " << d
                         << ": " << from << ", " << to;
  return success();
}

} // namespace tessera::stablehlo
