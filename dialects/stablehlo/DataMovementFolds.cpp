// Data movement that moves nothing, or moves constants. Patterns of several ops:
// DataMovementPatterns.
#include "dialects/stablehlo/ConstantElements.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {

using Index = SmallVector<int64_t>;

static bool isIota(ArrayRef<int64_t> dims) {
  return llvm::all_of(llvm::enumerate(dims),
                      [](auto p) { return p.value() == int64_t(p.index()); });
}

static int64_t position(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t at = 0;
  for (auto [i, size] : llvm::zip(index, shape))
    at = at * size + i;
  return at;
}

// The constant whose element at each index is the operand's at source(index); a splat stays one.
static DenseElementsAttr moved(Attribute operand, RankedTensorType to,
                               llvm::function_ref<Index(ArrayRef<int64_t>)> source) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(operand);
  if (!elements || elements.empty() || !to.hasStaticShape() || to.getNumElements() == 0 ||
      elements.getElementType() != to.getElementType())
    return {};
  if (elements.isSplat())
    return elements.resizeSplat(to);
  if (to.getNumElements() > maxFoldedElements)
    return {};
  auto from = elements.getValues<Attribute>();
  SmallVector<Attribute> values;
  Index index(to.getRank(), 0);
  for (int64_t n = to.getNumElements(); n > 0; --n) {
    values.push_back(from[position(source(index), elements.getType().getShape())]);
    for (int64_t d = to.getRank() - 1; d >= 0 && ++index[d] == to.getDimSize(d); --d)
      index[d] = 0;
  }
  return DenseElementsAttr::get(to, values);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult foldIota(IotaOp op) {
  auto type = op.getType();
  if (!type.hasStaticShape() || type.getDimSize(op.getIotaDimension()) != 1 ||
      type.getNumElements() == 0)
    return {};
  Attribute zero = Builder(op.getContext()).getZeroAttr(type.getElementType());
  return zero ? DenseElementsAttr::get(type, zero) : DenseElementsAttr();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (getOperand().getType() == getType())
    return getOperand();
  auto elements = dyn_cast_or_null<DenseElementsAttr>(a.getOperand());
  if (!elements || !getType().hasStaticShape() ||
      elements.getElementType() != getType().getElementType())
    return {};
  return elements.isSplat() ? elements.resizeSplat(getType()) : elements.reshape(getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  if (isIota(getPermutation()) && getOperand().getType() == getType())
    return getOperand();
  return moved(a.getOperand(), getType(), [&](ArrayRef<int64_t> index) {
    Index from(index.size());
    for (auto [d, source] : llvm::enumerate(getPermutation()))
      from[source] = index[d];
    return from;
  });
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  RankedTensorType from = getOperand().getType();
  if (from == getType() && isIota(getBroadcastDimensions()))
    return getOperand();
  return moved(a.getOperand(), getType(), [&](ArrayRef<int64_t> index) {
    Index source;
    for (auto [d, to] : llvm::enumerate(getBroadcastDimensions()))
      source.push_back(from.getDimSize(d) == 1 ? 0 : index[to]);
    return source;
  });
}

OpFoldResult ReverseOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  auto type = getOperand().getType();
  if (type == getType() &&
      llvm::all_of(getDimensions(), [&](int64_t d) { return type.getDimSize(d) == 1; }))
    return getOperand();
  return moved(a.getOperand(), getType(), [&](ArrayRef<int64_t> index) {
    Index from(index);
    for (int64_t d : getDimensions())
      from[d] = type.getDimSize(d) - 1 - index[d];
    return from;
  });
}

OpFoldResult PadOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  auto none = [](ArrayRef<int64_t> amounts) {
    return llvm::all_of(amounts, [](int64_t n) { return n == 0; });
  };
  bool nothing =
      none(getEdgePaddingLow()) && none(getEdgePaddingHigh()) && none(getInteriorPadding());
  if (nothing && getOperand().getType() == getType())
    return getOperand();
  // Padded with what is there already.
  auto elements = dyn_cast_or_null<SplatElementsAttr>(a.getOperand());
  auto value = dyn_cast_or_null<SplatElementsAttr>(a.getPaddingValue());
  if (elements && value && getType().hasStaticShape() && getType().getNumElements() != 0 &&
      elements.getElementType() == getType().getElementType() &&
      elements.getSplatValue<Attribute>() == value.getSplatValue<Attribute>())
    return elements.resizeSplat(getType());
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  auto from = getOperand().getType();
  if (from == getType() && from.hasStaticShape())
    return getOperand();
  return moved(a.getOperand(), getType(), [&](ArrayRef<int64_t> index) {
    Index source;
    for (auto [d, i] : llvm::enumerate(index))
      source.push_back(getStartIndices()[d] + i * getStrides()[d]);
    return source;
  });
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor a) {
  if (isAnnotated(*this))
    return {};
  auto type = getType();
  if (getInputs().size() == 1 && getInputs()[0].getType() == type)
    return getInputs()[0];
  SmallVector<DenseElementsAttr> inputs;
  if (!type.hasStaticShape() || failed(constantsOf(a.getInputs(), inputs)) ||
      llvm::any_of(
          inputs, [&](DenseElementsAttr e) { return e.getElementType() != type.getElementType(); }))
    return {};
  bool splat = llvm::all_of(inputs, [&](DenseElementsAttr e) {
    return e.isSplat() && e.getSplatValue<Attribute>() == inputs[0].getSplatValue<Attribute>();
  });
  if (splat)
    return inputs[0].resizeSplat(type);
  if (type.getNumElements() > maxFoldedElements)
    return {};
  // In row-major order: for each place before the dimension, a run of each input.
  int64_t outer = 1, dim = getDimension();
  for (int64_t size : type.getShape().take_front(dim))
    outer *= size;
  SmallVector<Attribute> values;
  for (int64_t i = 0; i < outer; ++i)
    for (DenseElementsAttr input : inputs) {
      int64_t run = input.getNumElements() / outer;
      auto from = input.getValues<Attribute>();
      for (int64_t j = 0; j < run; ++j)
        values.push_back(from[i * run + j]);
    }
  return DenseElementsAttr::get(type, values);
}

OpFoldResult DynamicUpdateSliceOp::fold(FoldAdaptor) {
  // A whole update leaves nothing of the operand: start indices are clamped to zero.
  bool whole = getOperand().getType() == getUpdate().getType() &&
               getType() == getUpdate().getType() && getType().hasStaticShape();
  return whole && !isAnnotated(*this) ? OpFoldResult(getUpdate()) : OpFoldResult();
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  auto type = getOperand().getType();
  if (type.isDynamicDim(getDimension()))
    return {};
  auto result = cast<RankedTensorType>(getType());
  return DenseElementsAttr::get(
      result, APInt(result.getElementTypeBitWidth(), type.getDimSize(getDimension())));
}

} // namespace tessera::stablehlo
