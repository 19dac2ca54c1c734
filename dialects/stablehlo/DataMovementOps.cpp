#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
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

//===------------------------------- Constraints ------------------------------===//

LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  auto quantized = dyn_cast<quant::QuantizedType>(getType().getElementType());
  bool stored = quantized && quantized.getStorageType() == value.getElementType();
  if (value != getType() && (value.getShape() != getType().getShape() ||
                             (!stored && value.getElementType() != getType().getElementType())))
    return violates(*this, 1) << "the value has type " << value << ", the output " << getType();
  return success();
}

LogicalResult IotaOp::verify() {
  if (!getType().hasStaticShape())
    return emitOpError() << "needs a result of known shape, not " << getType()
                         << "; use dynamic_iota";
  int64_t d = getIotaDimension(), rank = getType().getRank();
  if (d < 0 || d >= rank)
    return violates(*this, 1) << "iota_dimension is " << d << ", the output has rank " << rank;
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (llvm::any_of(getBroadcastSizes(), [](int64_t size) { return size < 0; }))
    return emitOpError() << "broadcast_sizes " << shapeText(getBroadcastSizes())
                         << " must not be negative";
  if (failed(
          verifyElements(*this, "the result", getType(), "the operand", getOperand().getType(), 1)))
    return failure();
  return verifyInferredShapes(*this, 1);
}

// Where a dimension of per-axis quantization goes.
static int64_t quantizedDim(Type type) {
  auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(type));
  return axis ? axis.getQuantizedDimension() : -1;
}

LogicalResult verifyBroadcast(Operation *op, RankedTensorType from, RankedTensorType to,
                              ArrayRef<int64_t> dims) {
  if (failed(verifyElements(op, "the result", to, "the operand", from, 1)))
    return failure();
  if (int64_t(dims.size()) != from.getRank())
    return violates(op, 2) << "broadcast_dimensions names " << dims.size()
                           << " dimensions, the operand has " << from.getRank();
  if (failed(verifyDims(op, "broadcast_dimensions", dims, to.getRank(), 3, 4)))
    return failure();
  for (auto [d, into] : llvm::enumerate(dims))
    if (from.getDimSize(d) != 1 && !sameSize(from.getDimSize(d), to.getDimSize(into)))
      return violates(op, 5) << "dimension " << d << " of the operand has size "
                             << from.getDimSize(d) << ", dimension " << into << " of the result "
                             << to.getDimSize(into);
  int64_t axis = quantizedDim(from);
  return verifyQuantizedDim(op, from, to,
                            axis >= 0 && axis < int64_t(dims.size()) ? dims[axis] : -1, 6);
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  return failure(failed(verifyBroadcast(*this, from, to, getBroadcastDimensions())) ||
                 failed(verifySized(*this, to)));
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return violates(*this, 3) << "needs an operand";
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  int64_t d = getDimension();
  if (d < 0 || d >= first.getRank())
    return violates(*this, 4) << "dimension is " << d << ", the operands have rank "
                              << first.getRank();
  for (auto [i, input] : llvm::enumerate(getInputs().drop_front())) {
    if (failed(verifyElements(*this, "an operand", input.getType(), "the first", first, 1)))
      return failure();
    SmallVector<int64_t> other(cast<RankedTensorType>(input.getType()).getShape());
    if (int64_t(other.size()) == first.getRank())
      other[d] = first.getDimSize(d);
    if (!sameShape(other, first.getShape()))
      return violates(*this, 2) << "operand " << i + 1 << " has shape "
                                << shapeText(cast<RankedTensorType>(input.getType()).getShape())
                                << ", which differs from the first's "
                                << shapeText(first.getShape()) << " elsewhere than in dimension "
                                << d;
  }
  if (failed(verifyElements(*this, "the result", getType(), "the first operand", first, 5)))
    return failure();
  return verifyInferredShapes(*this, 6);
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

static LogicalResult verifyStarts(Operation *op, ValueRange starts, int constraint) {
  for (Value start : starts)
    if (cast<RankedTensorType>(start.getType()).getRank() != 0)
      return op->emitOpError() << "takes scalar start indices, not " << start.getType();
  if (!llvm::all_equal(starts.getTypes()))
    return violates(op, constraint) << "start indices must have one type";
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (failed(verifyElements(*this, "the result", getType(), "the operand", from, 1)) ||
      failed(verifySliceSizes(*this, getSliceSizes(), from.getShape(), getStartIndices().size(), 2,
                              4)))
    return failure();
  if (failed(verifyStarts(*this, getStartIndices(), 3)))
    return failure();
  return verifyInferredShapes(*this, 5);
}

LogicalResult DynamicUpdateSliceOp::verify() {
  RankedTensorType into = getOperand().getType(), update = getUpdate().getType();
  if (!typesAgree(into, getType()))
    return violates(*this, 1) << "the result must have the operand's type " << into << ", not "
                              << getType();
  if (!elementsAgree(update.getElementType(), into.getElementType()))
    return violates(*this, 2) << "the update has elements " << update.getElementType()
                              << ", the operand " << into.getElementType();
  if (update.getRank() != into.getRank())
    return violates(*this, 3) << "the update has rank " << update.getRank() << ", the operand "
                              << into.getRank();
  if (failed(verifyStarts(*this, getStartIndices(), 5)))
    return failure();
  SmallVector<int64_t> sizes;
  for (auto [size, whole] : llvm::zip(update.getShape(), into.getShape()))
    sizes.push_back(ShapedType::isDynamic(size) ? 0 : size);
  return verifySliceSizes(*this, sizes, into.getShape(), getStartIndices().size(), 4, 6);
}

LogicalResult PadOp::verify() {
  RankedTensorType from = getOperand().getType(), value = getPaddingValue().getType();
  if (failed(verifyElements(*this, "the result", getType(), "the operand", from, 1)))
    return failure();
  if (value.getRank() != 0 || !elementsAgree(value.getElementType(), from.getElementType()))
    return violates(*this, 1) << "the padding value must be a scalar of " << from.getElementType()
                              << ", not " << value;
  size_t rank = from.getRank();
  if (getEdgePaddingLow().size() != rank || getEdgePaddingHigh().size() != rank ||
      getInteriorPadding().size() != rank)
    return violates(*this, 2) << "low, high and interior need one amount for each of " << rank
                              << " dimensions";
  for (size_t d = 0; d < rank; ++d)
    if (getInteriorPadding()[d] < 0)
      return violates(*this, 3) << "interior[" << d << "] is " << getInteriorPadding()[d];
  return verifyInferredShapes(*this, 4);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (failed(verifyReshape(*this, from, to)) || failed(verifySized(*this, to)))
    return failure();
  // The dimensions before, at and after the quantized one keep their number of elements.
  int64_t a = quantizedDim(from), b = quantizedDim(to);
  if (a < 0 && b < 0)
    return success();
  auto product = [](ArrayRef<int64_t> sizes) {
    int64_t all = 1;
    for (int64_t size : sizes)
      all = ShapedType::isDynamic(all) || ShapedType::isDynamic(size) ? ShapedType::kDynamic
                                                                      : all * size;
    return all;
  };
  ArrayRef<int64_t> x = from.getShape(), y = to.getShape();
  if (a < 0 || b < 0 || a >= from.getRank() || b >= to.getRank() ||
      !sameSize(product(x.take_front(a)), product(y.take_front(b))) || !sameSize(x[a], y[b]))
    return violates(*this, 3) << "moves elements across the quantized dimension: " << from << ", "
                              << to;
  return success();
}

LogicalResult ReverseOp::verify() {
  return verifyDims(*this, "dimensions", getDimensions(), getType().getRank(), 3, 2);
}

LogicalResult SliceOp::verify() {
  RankedTensorType from = getOperand().getType();
  ArrayRef<int64_t> start = getStartIndices(), limit = getLimitIndices(), strides = getStrides();
  size_t rank = from.getRank();
  if (failed(verifyElements(*this, "the result", getType(), "the operand", from, 1)))
    return failure();
  if (start.size() != rank || limit.size() != rank || strides.size() != rank)
    return violates(*this, 2) << "needs start, limit and stride for each of " << rank
                              << " dimensions";
  for (size_t d = 0; d < rank; ++d) {
    int64_t most = sizeOrBound(from, d);
    if (start[d] < 0 || start[d] > limit[d] || (!ShapedType::isDynamic(most) && limit[d] > most))
      return violates(*this, 3) << "takes [" << start[d] << ", " << limit[d] << ") of dimension "
                                << d << ", which has " << most;
    if (strides[d] <= 0)
      return violates(*this, 4) << "the stride of dimension " << d << " is " << strides[d];
  }
  return verifyInferredShapes(*this, 5);
}

LogicalResult TransposeOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (failed(verifyElements(*this, "the result", getType(), "the operand", from, 1)))
    return failure();
  if (int64_t(getPermutation().size()) != from.getRank())
    return violates(*this, 2) << "the permutation has " << getPermutation().size()
                              << " entries for rank " << from.getRank();
  if (failed(verifyDims(*this, "permutation", getPermutation(), from.getRank(), 2, 2)))
    return failure();
  if (failed(verifyInferredShapes(*this, 3)))
    return failure();
  return verifyQuantizedDim(
      *this, from, getType(),
      llvm::find(getPermutation(), quantizedDim(from)) - getPermutation().begin(), 4);
}

LogicalResult GetDimensionSizeOp::verify() {
  int64_t d = getDimension(), rank = getOperand().getType().getRank();
  if (d < 0 || d >= rank)
    return violates(*this, 1) << "dimension is " << d << ", the operand has rank " << rank;
  if (getType().getRank() != 0 || !getType().getElementType().isSignlessInteger(32))
    return emitOpError() << "must return tensor<i32>, not " << getType();
  return success();
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
      failed(verifyDims(*this, "collapsed_slice_dims", collapsed, rank, 8, 6)) ||
      failed(verifyDims(*this, "operand_batching_dims", batching, rank, 11, 6)) ||
      failed(verifyDims(*this, "collapsed_slice_dims and operand_batching_dims", dropped, rank, 8,
                        6)) ||
      failed(verifyDims(*this, "start_indices_batching_dims", indexBatching, indices.getRank(), 14,
                        13)) ||
      failed(verifyDims(*this, "start_index_map", read, rank, 19, 18)))
    return failure();
  if (failed(verifyElements(*this, "the result", getType(), "the operand", type, 23)))
    return failure();
  if (!isSorted(batching))
    return violates(*this, 10) << "operand_batching_dims " << shapeText(batching)
                               << " must be sorted";
  if (llvm::is_contained(indexBatching, vectorDim))
    return violates(*this, 15) << "index_vector_dim " << vectorDim << " is a batching dimension";
  if (batching.size() != indexBatching.size())
    return violates(*this, 16) << batching.size() << " and " << indexBatching.size()
                               << " batching dimensions";
  for (auto [d, index] : llvm::zip(batching, indexBatching))
    if (!sameSize(type.getDimSize(d), indices.getDimSize(index)))
      return violates(*this, 17) << "batching dimensions have sizes " << type.getDimSize(d)
                                 << " and " << indices.getDimSize(index);
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
  if (type.getElementType() != getType().getElementType())
    return violates(*this, 23) << "the result has elements " << getType().getElementType()
                               << ", the operand " << type.getElementType();
  return verifyInferredShapes(*this, 22);
}

//===-------------------------------- Interfaces ------------------------------===//

// One number for all elements costs nothing; other constants are arrays in memory.
fusion::NodeKind ConstantOp::getFusionKind() {
  return isa<SplatElementsAttr>(getValue()) ? fusion::NodeKind::Constant
                                            : fusion::NodeKind::Outside;
}

double ConstantOp::getFlops() { return 0; }

fusion::NodeKind ConcatenateOp::getFusionKind() { return fusion::NodeKind::Movement; }

fusion::Use ConcatenateOp::getOperandUse(unsigned) { return fusion::Use::Piece; }

fusion::NodeKind GatherOp::getFusionKind() { return fusion::NodeKind::Movement; }

fusion::Use GatherOp::getOperandUse(unsigned operand) {
  // A few elements of a computed array need not all of it.
  constexpr int64_t few = 16;
  auto elements = [](Value value) { return cast<ShapedType>(value.getType()).getNumElements(); };
  bool picks = elements(getResult()) * few <= elements(getOperand());
  return operand > 0 ? fusion::Use::Reread : picks ? fusion::Use::Once : fusion::Use::Whole;
}

} // namespace tessera::stablehlo
