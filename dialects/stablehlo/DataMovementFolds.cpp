// Data movement that moves nothing, moves twice, or moves constants.
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {

static constexpr int64_t maxFoldedElements = 64;

static bool isIota(ArrayRef<int64_t> dims) {
  return llvm::all_of(llvm::enumerate(dims), [](auto p) { return p.value() == int64_t(p.index()); });
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===---------------------------- Shapes and places ---------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor a) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto elements = dyn_cast_or_null<DenseElementsAttr>(a.getOperand());
  if (elements && getType().hasStaticShape())
    return elements.isSplat() ? elements.resizeSplat(getType()) : elements.reshape(getType());
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor a) {
  if (isIota(getPermutation()) && getOperand().getType() == getType())
    return getOperand();
  auto elements = dyn_cast_or_null<SplatElementsAttr>(a.getOperand());
  return elements && getType().hasStaticShape() ? OpFoldResult(elements.resizeSplat(getType())) : OpFoldResult();
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() && isIota(getBroadcastDimensions()) ? OpFoldResult(getOperand())
                                                                                 : OpFoldResult();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  auto type = getOperand().getType();
  return llvm::all_of(getDimensions(), [&](int64_t d) { return type.getDimSize(d) == 1; }) ? OpFoldResult(getOperand())
                                                                                           : OpFoldResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto none = [](ArrayRef<int64_t> amounts) { return llvm::all_of(amounts, [](int64_t n) { return n == 0; }); };
  bool nothing = none(getEdgePaddingLow()) && none(getEdgePaddingHigh()) && none(getInteriorPadding());
  return nothing && getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult SliceOp::fold(FoldAdaptor a) {
  auto from = getOperand().getType(), to = getType();
  if (from == to && from.hasStaticShape())
    return getOperand();
  auto elements = dyn_cast_or_null<DenseElementsAttr>(a.getOperand());
  if (!elements || !to.hasStaticShape())
    return {};
  if (elements.isSplat())
    return elements.resizeSplat(to);
  if (from.getRank() != 1 || to.getNumElements() > maxFoldedElements || !isa<IntegerType>(to.getElementType()))
    return {};
  SmallVector<APInt> values;
  auto all = elements.getValues<APInt>();
  for (int64_t i = getStartIndices()[0]; i < getLimitIndices()[0]; i += getStrides()[0])
    values.push_back(all[i]);
  return values.empty() ? DenseElementsAttr() : DenseElementsAttr::get(to, values);
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor a) {
  if (getInputs().size() == 1 && getInputs()[0].getType() == getType())
    return getInputs()[0];
  // Vectors of a few integers: indices.
  if (getType().getRank() != 1 || !getType().hasStaticShape() || getType().getNumElements() > maxFoldedElements ||
      !isa<IntegerType>(getType().getElementType()))
    return {};
  SmallVector<APInt> values;
  for (Attribute input : a.getInputs()) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(input);
    if (!elements)
      return {};
    llvm::append_range(values, elements.getValues<APInt>());
  }
  return values.empty() ? DenseElementsAttr() : DenseElementsAttr::get(getType(), values);
}

OpFoldResult DynamicUpdateSliceOp::fold(FoldAdaptor) {
  // A whole update leaves nothing of the operand: start indices are clamped to zero.
  bool whole = getOperand().getType() == getUpdate().getType() && getType() == getUpdate().getType() &&
               getType().hasStaticShape();
  return whole ? OpFoldResult(getUpdate()) : OpFoldResult();
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  auto type = getOperand().getType();
  if (type.isDynamicDim(getDimension()))
    return {};
  auto result = cast<RankedTensorType>(getType());
  return DenseElementsAttr::get(result, APInt(result.getElementTypeBitWidth(), type.getDimSize(getDimension())));
}

//===---------------------------------- Chains --------------------------------===//

namespace {

struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

struct TransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t d : op.getPermutation())
      permutation.push_back(inner.getPermutation()[d]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getOperand(), permutation);
    return success();
  }
};

struct BroadcastOfBroadcast : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t d : inner.getBroadcastDimensions())
      dims.push_back(op.getBroadcastDimensions()[d]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dims);
    return success();
  }
};

// At constant indices it is a slice; of the whole operand it is the operand.
struct DynamicSliceAtConstant : OpRewritePattern<DynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicSliceOp op, PatternRewriter &rewriter) const override {
    auto type = op.getOperand().getType();
    if (!type.hasStaticShape())
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
      bool isUnsigned = cast<RankedTensorType>(index.getType()).getElementType().isUnsignedInteger();
      int64_t at = room == 0 ? 0 : isUnsigned ? int64_t(value.getLimitedValue(room)) : value.getSExtValue();
      start.push_back(std::clamp<int64_t>(at, 0, room));
      limit.push_back(start.back() + op.getSliceSizes()[d]);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getOperand(), start, limit, strides);
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeOfReshape>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TransposeOfTranspose>(context);
}
void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<BroadcastOfBroadcast>(context);
}
void DynamicSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DynamicSliceAtConstant>(context);
}

} // namespace tessera::stablehlo
