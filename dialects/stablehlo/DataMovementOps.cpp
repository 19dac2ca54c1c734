#include "dialects/stablehlo/Constraints.h"
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

//===------------------------------- Constraints ------------------------------===//

LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  if (value != getType() && value.getShape() != getType().getShape())
    return violates(*this, 1) << "the value has type " << value << ", the output " << getType();
  return success();
}

LogicalResult IotaOp::verify() {
  int64_t d = getIotaDimension(), rank = getType().getRank();
  if (d < 0 || d >= rank)
    return violates(*this, 1) << "iota_dimension is " << d << ", the output has rank " << rank;
  return success();
}

LogicalResult BroadcastOp::verify() {
  SmallVector<int64_t> shape(getBroadcastSizes());
  llvm::append_range(shape, getOperand().getType().getShape());
  return verifyResultShape(*this, getType(), shape, 1);
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (int64_t(dims.size()) != from.getRank())
    return violates(*this, 2) << "broadcast_dimensions names " << dims.size()
                              << " dimensions, the operand has " << from.getRank();
  if (failed(verifyDims(*this, "broadcast_dimensions", dims, to.getRank(), 3, 4)))
    return failure();
  for (auto [d, into] : llvm::enumerate(dims))
    if (from.getDimSize(d) != 1 && !sameSize(from.getDimSize(d), to.getDimSize(into)))
      return violates(*this, 5) << "dimension " << d << " of the operand has size "
                                << from.getDimSize(d) << ", dimension " << into << " of the result "
                                << to.getDimSize(into);
  return success();
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return violates(*this, 3) << "needs an operand";
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  int64_t d = getDimension();
  if (d < 0 || d >= first.getRank())
    return violates(*this, 4) << "dimension is " << d << ", the operands have rank "
                              << first.getRank();
  SmallVector<int64_t> shape(first.getShape());
  for (auto [i, input] : llvm::enumerate(getInputs().drop_front())) {
    SmallVector<int64_t> other(cast<RankedTensorType>(input.getType()).getShape());
    int64_t size = int64_t(other.size()) > d ? other[d] : 0;
    if (int64_t(other.size()) == first.getRank())
      other[d] = first.getDimSize(d);
    if (!sameShape(other, first.getShape()))
      return violates(*this, 2) << "operand " << i + 1 << " has shape "
                                << shapeText(cast<RankedTensorType>(input.getType()).getShape())
                                << ", which differs from the first's "
                                << shapeText(first.getShape()) << " elsewhere than in dimension "
                                << d;
    shape[d] = ShapedType::isDynamic(shape[d]) || ShapedType::isDynamic(size) ? ShapedType::kDynamic
                                                                              : shape[d] + size;
  }
  return verifyResultShape(*this, getType(), shape, 6);
}

static LogicalResult verifySliceSizes(Operation *op, ArrayRef<int64_t> sizes,
                                      ArrayRef<int64_t> shape, size_t starts, int count,
                                      int bound) {
  if (starts != shape.size() || sizes.size() != shape.size())
    return violates(op, count) << starts << " start indices and " << sizes.size()
                               << " sizes for an operand of rank " << shape.size();
  for (auto [d, size] : llvm::enumerate(sizes))
    if (size < 0 || (!ShapedType::isDynamic(shape[d]) && size > shape[d]))
      return violates(op, bound) << "takes " << size << " of dimension " << d << ", which has "
                                 << shape[d];
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (from.getElementType() != getType().getElementType())
    return violates(*this, 1) << "the result has elements " << getType().getElementType()
                              << ", the operand " << from.getElementType();
  if (failed(verifySliceSizes(*this, getSliceSizes(), from.getShape(), getStartIndices().size(), 2,
                              4)))
    return failure();
  if (!llvm::all_equal(getStartIndices().getTypes()))
    return violates(*this, 3) << "start indices must have one type";
  return verifyResultShape(*this, getType(), getSliceSizes(), 5);
}

LogicalResult DynamicUpdateSliceOp::verify() {
  RankedTensorType into = getOperand().getType(), update = getUpdate().getType();
  if (into.getElementType() != getType().getElementType() ||
      !sameShape(into.getShape(), getType().getShape()))
    return violates(*this, 1) << "the result must have the operand's type " << into << ", not "
                              << getType();
  if (update.getElementType() != into.getElementType())
    return violates(*this, 2) << "the update has elements " << update.getElementType()
                              << ", the operand " << into.getElementType();
  if (update.getRank() != into.getRank())
    return violates(*this, 3) << "the update has rank " << update.getRank() << ", the operand "
                              << into.getRank();
  if (!llvm::all_equal(getStartIndices().getTypes()))
    return violates(*this, 5) << "start indices must have one type";
  SmallVector<int64_t> sizes;
  for (auto [size, whole] : llvm::zip(update.getShape(), into.getShape()))
    sizes.push_back(ShapedType::isDynamic(size) ? 0 : size);
  return verifySliceSizes(*this, sizes, into.getShape(), getStartIndices().size(), 4, 6);
}

LogicalResult PadOp::verify() {
  RankedTensorType from = getOperand().getType(), value = getPaddingValue().getType();
  if (value.getRank() != 0 || value.getElementType() != from.getElementType())
    return violates(*this, 1) << "the padding value must be a scalar of " << from.getElementType()
                              << ", not " << value;
  size_t rank = from.getRank();
  if (getEdgePaddingLow().size() != rank || getEdgePaddingHigh().size() != rank ||
      getInteriorPadding().size() != rank)
    return violates(*this, 2) << "low, high and interior need one amount for each of " << rank
                              << " dimensions";
  SmallVector<int64_t> shape;
  for (size_t d = 0; d < rank; ++d) {
    if (getInteriorPadding()[d] < 0)
      return violates(*this, 3) << "interior[" << d << "] is " << getInteriorPadding()[d];
    shape.push_back(paddedSize(from.getDimSize(d), getInteriorPadding()[d] + 1,
                               getEdgePaddingLow()[d], getEdgePaddingHigh()[d]));
  }
  return verifyResultShape(*this, getType(), shape, 4);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements())
    return violates(*this, 2) << "the operand has " << from.getNumElements()
                              << " elements, the result " << to.getNumElements();
  return success();
}

LogicalResult ReverseOp::verify() {
  return verifyDims(*this, "dimensions", getDimensions(), getType().getRank(), 3, 2);
}

LogicalResult SliceOp::verify() {
  RankedTensorType from = getOperand().getType();
  ArrayRef<int64_t> start = getStartIndices(), limit = getLimitIndices(), strides = getStrides();
  size_t rank = from.getRank();
  if (start.size() != rank || limit.size() != rank || strides.size() != rank)
    return violates(*this, 2) << "needs start, limit and stride for each of " << rank
                              << " dimensions";
  SmallVector<int64_t> shape;
  for (size_t d = 0; d < rank; ++d) {
    bool known = !ShapedType::isDynamic(from.getDimSize(d));
    if (start[d] < 0 || start[d] > limit[d] || (known && limit[d] > from.getDimSize(d)))
      return violates(*this, 3) << "takes [" << start[d] << ", " << limit[d] << ") of dimension "
                                << d << ", which has " << from.getDimSize(d);
    if (strides[d] <= 0)
      return violates(*this, 4) << "the stride of dimension " << d << " is " << strides[d];
    shape.push_back((limit[d] - start[d] + strides[d] - 1) / strides[d]);
  }
  return verifyResultShape(*this, getType(), shape, 5);
}

LogicalResult TransposeOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (int64_t(getPermutation().size()) != from.getRank())
    return violates(*this, 2) << "the permutation has " << getPermutation().size()
                              << " entries for rank " << from.getRank();
  if (failed(verifyDims(*this, "permutation", getPermutation(), from.getRank(), 2, 2)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t d : getPermutation())
    shape.push_back(from.getDimSize(d));
  return verifyResultShape(*this, getType(), shape, 3);
}

LogicalResult GatherOp::verify() {
  RankedTensorType type = getOperand().getType(), indices = getStartIndices().getType();
  GatherDimensionNumbersAttr dims = getDimensionNumbers();
  ArrayRef<int64_t> offset = dims.getOffsetDims(), collapsed = dims.getCollapsedSliceDims();
  ArrayRef<int64_t> batching = dims.getOperandBatchingDims(),
                    indexBatching = dims.getStartIndicesBatchingDims();
  ArrayRef<int64_t> map = dims.getStartIndexMap(), sizes = getSliceSizes();
  int64_t rank = type.getRank(), vectorDim = dims.getIndexVectorDim();
  if (rank != int64_t(offset.size() + collapsed.size() + batching.size()))
    return violates(*this, 1) << "an operand of rank " << rank << " with " << offset.size()
                              << " offset, " << collapsed.size() << " collapsed and "
                              << batching.size() << " batching dimensions";
  if (vectorDim < 0 || vectorDim > indices.getRank())
    return violates(*this, 2) << "index_vector_dim is " << vectorDim << ", the indices have rank "
                              << indices.getRank();
  int64_t components = vectorDim < indices.getRank() ? indices.getDimSize(vectorDim) : 1;
  if (!sameSize(map.size(), components))
    return violates(*this, 3) << "start_index_map has " << map.size() << " entries for "
                              << components << " index components";
  SmallVector<int64_t> dropped(collapsed), read(map);
  llvm::append_range(dropped, batching);
  llvm::append_range(read, batching);
  if (!isSorted(offset))
    return violates(*this, 4) << "offset_dims " << shapeText(offset) << " must be sorted";
  if (!isSorted(collapsed))
    return violates(*this, 7) << "collapsed_slice_dims " << shapeText(collapsed)
                              << " must be sorted";
  if (failed(verifyDims(*this, "offset_dims", offset, getType().getRank(), 5, 4)) ||
      failed(verifyDims(*this, "collapsed_slice_dims and operand_batching_dims", dropped, rank, 8,
                        6)) ||
      failed(verifyDims(*this, "start_indices_batching_dims", indexBatching, indices.getRank(), 14,
                        13)) ||
      failed(verifyDims(*this, "start_index_map", read, rank, 19, 18)))
    return failure();
  if (llvm::is_contained(indexBatching, vectorDim))
    return violates(*this, 15) << "index_vector_dim " << vectorDim << " is a batching dimension";
  if (batching.size() != indexBatching.size())
    return violates(*this, 16) << batching.size() << " and " << indexBatching.size()
                               << " batching dimensions";
  if (int64_t(sizes.size()) != rank)
    return violates(*this, 20) << sizes.size() << " slice sizes for an operand of rank " << rank;
  for (int64_t d = 0; d < rank; ++d) {
    if (sizes[d] < 0 || (!type.isDynamicDim(d) && sizes[d] > type.getDimSize(d)))
      return violates(*this, 21) << "takes " << sizes[d] << " of dimension " << d << ", which has "
                                 << type.getDimSize(d);
    if (sizes[d] > 1 && llvm::is_contained(dropped, d))
      return violates(*this, llvm::is_contained(collapsed, d) ? 9 : 12)
             << "dimension " << d << " is dropped, yet its slice has size " << sizes[d];
  }
  // The result: offset dimensions from the slices, the others from the indices.
  SmallVector<int64_t> shape, batches, slices;
  for (int64_t d = 0; d < indices.getRank(); ++d)
    if (d != vectorDim)
      batches.push_back(indices.getDimSize(d));
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dropped, d))
      slices.push_back(sizes[d]);
  size_t b = 0, o = 0;
  for (size_t d = 0; d < batches.size() + slices.size(); ++d) {
    bool isOffset = llvm::is_contained(offset, int64_t(d));
    if (isOffset ? o == slices.size() : b == batches.size())
      return violates(*this, 22) << "offset_dims " << shapeText(offset)
                                 << " leave no room for the batch dimensions";
    shape.push_back(isOffset ? slices[o++] : batches[b++]);
  }
  if (type.getElementType() != getType().getElementType())
    return violates(*this, 23) << "the result has elements " << getType().getElementType()
                               << ", the operand " << type.getElementType();
  return verifyResultShape(*this, getType(), shape, 22);
}

} // namespace tessera::stablehlo
