// Data movement in several steps that one can say:
//
//   reshape(reshape x), transpose(transpose x), reverse(reverse x)    one of them, or x
//   broadcast(broadcast x), broadcast(reshape x : 8 -> 8x1)           broadcast x
//   transpose(broadcast x), reshape(broadcast x) by dimensions of 1   broadcast x
//   transpose of dimensions of size 1                                 reshape
//   slice(slice x)                                                    slice x
//   slice(concatenate x, y) of x only                                 slice x, or x
//   concatenate(concatenate x, y), z along one dimension              concatenate x, y, z
//   concatenate of slices of x that follow each other                 slice x, or x
//   dynamic_slice at constants                                        slice
//
// What the program annotates with a sharding stays as it is.
#include "dialects/stablehlo/ConstantElements.h"
#include "dialects/stablehlo/DimensionMaps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {
namespace {

// What makes the value, where that is an `Op` without a sharding of its own.
template <typename Op> Op plain(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && !isAnnotated(op) ? op : Op();
}

LogicalResult mergeReshape(ReshapeOp op, PatternRewriter &rewriter) {
  if (isAnnotated(op))
    return failure();
  if (auto inner = plain<ReshapeOp>(op.getOperand())) {
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand());
    return success();
  }
  auto inner = plain<BroadcastInDimOp>(op.getOperand());
  if (!inner || !op.getType().hasStaticShape() || !inner.getType().hasStaticShape())
    return failure();
  auto map = unitReshape(inner.getType().getShape(), op.getType().getShape());
  if (!map)
    return failure();
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getBroadcastDimensions()) {
    if ((*map)[dim] < 0)
      return failure();
    dims.push_back((*map)[dim]);
  }
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dims);
  return success();
}

LogicalResult mergeTranspose(TransposeOp op, PatternRewriter &rewriter) {
  if (isAnnotated(op))
    return failure();
  ArrayRef<int64_t> permutation = op.getPermutation();
  if (auto inner = plain<TransposeOp>(op.getOperand())) {
    SmallVector<int64_t> both;
    for (int64_t d : permutation)
      both.push_back(inner.getPermutation()[d]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getOperand(), both);
    return success();
  }
  if (auto inner = plain<BroadcastInDimOp>(op.getOperand())) {
    SmallVector<int64_t> dims;
    for (int64_t d : inner.getBroadcastDimensions())
      dims.push_back(llvm::find(permutation, d) - permutation.begin());
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dims);
    return success();
  }
  RankedTensorType from = typeOf(op.getOperand());
  if (!from.hasStaticShape() || !op.getType().hasStaticShape() ||
      !(from.getElementType().isIntOrFloat() || isa<ComplexType>(from.getElementType())))
    return failure();
  SmallVector<int64_t> order; // of the dimensions that hold anything
  for (int64_t d : permutation)
    if (from.getDimSize(d) != 1)
      order.push_back(d);
  if (!llvm::is_sorted(order))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
  return success();
}

LogicalResult mergeReverse(ReverseOp op, PatternRewriter &rewriter) {
  auto inner = plain<ReverseOp>(op.getOperand());
  if (!inner || isAnnotated(op) || inner.getOperand().getType() != op.getType())
    return failure();
  SmallVector<int64_t> dims; // what both turn around stays as it was
  for (auto [some, others] : {std::pair(op.getDimensions(), inner.getDimensions()),
                              {inner.getDimensions(), op.getDimensions()}})
    for (int64_t d : some)
      if (!llvm::is_contained(others, d))
        dims.push_back(d);
  if (dims.empty())
    rewriter.replaceOp(op, inner.getOperand());
  else
    rewriter.replaceOpWithNewOp<ReverseOp>(op, op.getType(), inner.getOperand(), dims);
  return success();
}

LogicalResult mergeBroadcast(BroadcastInDimOp op, PatternRewriter &rewriter) {
  if (isAnnotated(op))
    return failure();
  ArrayRef<int64_t> into = op.getBroadcastDimensions();
  SmallVector<int64_t> dims;
  if (auto inner = plain<BroadcastInDimOp>(op.getOperand())) {
    for (int64_t d : inner.getBroadcastDimensions())
      dims.push_back(into[d]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dims);
    return success();
  }
  auto reshape = plain<ReshapeOp>(op.getOperand());
  if (!reshape || !typeOf(reshape).hasStaticShape() ||
      !typeOf(reshape.getOperand()).hasStaticShape())
    return failure();
  auto map = unitReshape(typeOf(reshape.getOperand()).getShape(), typeOf(reshape).getShape());
  if (!map || llvm::is_contained(*map, -1))
    return failure();
  for (int64_t d : *map)
    dims.push_back(into[d]);
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), reshape.getOperand(), dims);
  return success();
}

// start..limit of the value, or the value where that is all of it.
Value sliceOf(Value value, RankedTensorType type, ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
              ArrayRef<int64_t> strides, Location loc, PatternRewriter &rewriter) {
  if (value.getType() == type)
    return value;
  return SliceOp::create(rewriter, loc, type, value, start, limit, strides);
}

LogicalResult mergeSlice(SliceOp op, PatternRewriter &rewriter) {
  if (isAnnotated(op) || !op.getType().hasStaticShape())
    return failure();
  SmallVector<int64_t> start(op.getStartIndices()), limit(op.getLimitIndices()),
      strides(op.getStrides());
  if (auto inner = plain<SliceOp>(op.getOperand())) {
    for (size_t d = 0; d < start.size(); ++d) {
      int64_t step = inner.getStrides()[d], first = inner.getStartIndices()[d];
      int64_t count = op.getType().getDimSize(d);
      start[d] = first + start[d] * step;
      strides[d] = count > 1 ? strides[d] * step : 1;
      limit[d] = count ? start[d] + (count - 1) * strides[d] + 1 : start[d];
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getOperand(), start, limit,
                                         strides);
    return success();
  }
  auto concatenate = plain<ConcatenateOp>(op.getOperand());
  if (!concatenate)
    return failure();
  int64_t dim = concatenate.getDimension(), offset = 0;
  for (Value input : concatenate.getInputs()) {
    int64_t size = typeOf(input).getDimSize(dim);
    if (ShapedType::isDynamic(size))
      return failure();
    if (start[dim] >= offset && limit[dim] <= offset + size) {
      start[dim] -= offset;
      limit[dim] -= offset;
      rewriter.replaceOp(
          op, sliceOf(input, op.getType(), start, limit, strides, op.getLoc(), rewriter));
      return success();
    }
    offset += size;
  }
  return failure();
}

LogicalResult flattenConcatenate(ConcatenateOp op, PatternRewriter &rewriter) {
  if (isAnnotated(op))
    return failure();
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    auto inner = plain<ConcatenateOp>(input);
    if (inner && inner.getDimension() == op.getDimension() && inner->hasOneUse())
      llvm::append_range(inputs, inner.getInputs());
    else
      inputs.push_back(input);
  }
  if (inputs.size() == op.getInputs().size())
    return failure();
  rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), inputs, op.getDimension());
  return success();
}

// Neighbouring parts of one value, put together again.
LogicalResult joinSlices(ConcatenateOp op, PatternRewriter &rewriter) {
  if (isAnnotated(op) || op.getInputs().size() < 2 || !op.getType().hasStaticShape())
    return failure();
  auto first = plain<SliceOp>(op.getInputs()[0]);
  if (!first || first.getStrides()[op.getDimension()] != 1)
    return failure();
  SmallVector<int64_t> limit(first.getLimitIndices());
  for (Value input : op.getInputs().drop_front()) {
    auto next = plain<SliceOp>(input);
    if (!next || next.getOperand() != first.getOperand() || next.getStrides() != first.getStrides())
      return failure();
    for (size_t d = 0; d < limit.size(); ++d) {
      bool joined = d == op.getDimension();
      if (next.getStartIndices()[d] != (joined ? limit[d] : first.getStartIndices()[d]) ||
          (!joined && next.getLimitIndices()[d] != limit[d]))
        return failure();
    }
    limit[op.getDimension()] = next.getLimitIndices()[op.getDimension()];
  }
  rewriter.replaceOp(op, sliceOf(first.getOperand(), op.getType(), first.getStartIndices(), limit,
                                 first.getStrides(), op.getLoc(), rewriter));
  return success();
}

// At constant indices it is a slice; of the whole operand it is the operand.
LogicalResult sliceAtConstant(DynamicSliceOp op, PatternRewriter &rewriter) {
  auto type = op.getOperand().getType();
  if (!type.hasStaticShape() || isAnnotated(op))
    return failure();
  if (type == op.getType()) {
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
  SmallVector<int64_t> start, limit, strides(type.getRank(), 1);
  for (auto [d, index] : llvm::enumerate(op.getStartIndices())) {
    int64_t room = type.getDimSize(d) - op.getSliceSizes()[d];
    APInt value;
    if (room != 0 && !matchPattern(index, m_ConstantInt(&value)))
      return failure();
    bool isUnsigned = typeOf(index).getElementType().isUnsignedInteger();
    int64_t at = room == 0    ? 0
                 : isUnsigned ? int64_t(value.getLimitedValue(room))
                              : value.getSExtValue();
    start.push_back(std::clamp<int64_t>(at, 0, room));
    limit.push_back(start.back() + op.getSliceSizes()[d]);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getOperand(), start, limit, strides);
  return success();
}

} // namespace

std::optional<SmallVector<int64_t>> unitReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> result(from.size(), -1);
  size_t j = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1)
      continue;
    while (j < to.size() && to[j] == 1)
      ++j;
    if (j == to.size() || to[j] != from[i])
      return std::nullopt;
    result[i] = j++;
  }
  for (; j < to.size(); ++j)
    if (to[j] != 1)
      return std::nullopt;
  return result;
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeReshape);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeTranspose);
}
void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeBroadcast);
}
// Everything that cuts arrays apart and puts them together.
void DynamicSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(sliceAtConstant);
  patterns.add(mergeSlice);
  patterns.add(flattenConcatenate);
  patterns.add(joinSlices);
  patterns.add(mergeReverse);
}

} // namespace tessera::stablehlo
