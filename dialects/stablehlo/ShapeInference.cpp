#include "dialects/stablehlo/ShapeInference.h"

#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::stablehlo {

static constexpr int64_t unknown = ShapedType::kDynamic;

std::optional<Shape> constantIntegers(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  bool isUnsigned = elements.getElementType().isUnsignedInteger();
  Shape numbers;
  for (const APInt &number : elements.getValues<APInt>())
    numbers.push_back(isUnsigned ? int64_t(number.getLimitedValue(INT64_MAX))
                                 : number.getSExtValue());
  return numbers;
}

//===--------------------------- What shapes become ---------------------------===//

Shape mergedShape(ValueRange operands) {
  Shape all;
  for (Value operand : operands) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.getShape().size() < all.size())
      continue;
    if (all.size() < type.getShape().size())
      all.assign(type.getRank(), unknown);
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(size))
        all[d] = size;
  }
  return all;
}

static std::optional<Shape> amountsOf(Value value, size_t count) {
  std::optional<Shape> amounts = constantIntegers(value);
  return amounts && amounts->size() == count ? amounts : std::nullopt;
}

// What `limit` adds to `start`: the size of a slice, wherever data puts it.
static std::optional<Shape> sizesFrom(Value start, Value limit, size_t count) {
  auto sum = limit.getDefiningOp<AddOp>();
  if (!sum || (sum.getLhs() != start && sum.getRhs() != start))
    return std::nullopt;
  return amountsOf(sum.getLhs() == start ? sum.getRhs() : sum.getLhs(), count);
}

Shape valuesOf(Value value, size_t rank) {
  return amountsOf(value, rank).value_or(Shape(rank, unknown));
}

Shape without(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  Shape kept;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dims, int64_t(d)))
      kept.push_back(size);
  return kept;
}

Shape paddedShape(ArrayRef<int64_t> from, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                  ArrayRef<int64_t> interior) {
  Shape to;
  for (size_t d = 0; d < from.size(); ++d)
    to.push_back(paddedSize(from[d], Wide(interior[d]) + 1, low[d], high[d]));
  return to;
}

Shape slicedShape(ArrayRef<int64_t> start, ArrayRef<int64_t> limit, ArrayRef<int64_t> strides) {
  Shape to;
  for (size_t d = 0; d < start.size(); ++d) {
    Wide span = Wide(limit[d]) - start[d];
    to.push_back(strides[d] <= 0 ? unknown
                                 : sizeFrom(span > 0 ? (span - 1) / strides[d] + 1 : span));
  }
  return to;
}

// Offset dimensions come from the slices, the others from the indices.
Shape gatheredShape(ArrayRef<int64_t> indices, GatherDimensionNumbersAttr dims,
                    ArrayRef<int64_t> sliceSizes) {
  Shape dropped(dims.getCollapsedSliceDims());
  llvm::append_range(dropped, dims.getOperandBatchingDims());
  Shape slices = without(sliceSizes, dropped), batches = without(indices, dims.getIndexVectorDim());
  Shape result(batches.size() + slices.size());
  size_t o = 0, b = 0;
  for (auto [d, size] : llvm::enumerate(result))
    // Offsets past the end leave places over.
    size = (llvm::is_contained(dims.getOffsetDims(), int64_t(d)) || b == batches.size()) &&
                   o < slices.size()
               ? slices[o++]
               : batches[b++];
  return result;
}

static int64_t at(std::optional<ArrayRef<int64_t>> values, int64_t i) {
  return values ? (*values)[i] : 1;
}

Shape paddingOf(std::optional<DenseIntElementsAttr> padding, size_t dims) {
  return padding ? Shape(padding->getValues<int64_t>()) : Shape(2 * dims, 0);
}

Shape windowShape(ArrayRef<int64_t> from, ArrayRef<int64_t> sizes, const Windows &windows) {
  Shape result;
  if (!windows.padding)
    return Shape(from.size(), unknown);
  for (auto [d, size] : llvm::enumerate(from)) {
    int64_t low = (*windows.padding)[2 * d], high = (*windows.padding)[2 * d + 1];
    result.push_back(windowCount(paddedSize(size, at(windows.baseDilations, d), low, high),
                                 sizes[d], at(windows.dilations, d), at(windows.strides, d)));
  }
  return result;
}

Shape convolvedShape(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs, ConvDimensionNumbersAttr dims,
                     int64_t batchGroups, const Windows &windows) {
  Shape result(lhs.size()), image, kernel;
  for (int64_t d : dims.getInputSpatialDimensions())
    image.push_back(lhs[d]);
  for (int64_t d : dims.getKernelSpatialDimensions())
    kernel.push_back(rhs[d]);
  for (auto [d, size] :
       llvm::zip(dims.getOutputSpatialDimensions(), windowShape(image, kernel, windows)))
    result[d] = size;
  int64_t batch = lhs[dims.getInputBatchDimension()];
  result[dims.getOutputBatchDimension()] =
      ShapedType::isDynamic(batch) ? batch : batch / batchGroups;
  result[dims.getOutputFeatureDimension()] = rhs[dims.getKernelOutputFeatureDimension()];
  return result;
}

//===------------------------- Shapes of an operation -------------------------===//

namespace {

Shape shape(Value value) { return Shape(shapeOf(value)); }

size_t resultRank(Operation *op) { return shapeOf(op->getResult(0)).size(); }

// One size that is missing follows from the number of elements.
Shape reshaped(Value operand, Shape to) {
  auto from = cast<RankedTensorType>(operand.getType());
  int64_t *missing = nullptr, rest = 1;
  for (int64_t &size : to)
    if (!ShapedType::isDynamic(size))
      rest *= size;
    else if (std::exchange(missing, &size))
      return to;
  if (missing && from.hasStaticShape() && rest > 0 && from.getNumElements() % rest == 0)
    *missing = from.getNumElements() / rest;
  return to;
}

Shape bitcast(BitcastConvertOp op) {
  auto from = op.getOperand().getType(), to = op.getType();
  Shape result = shape(op.getOperand());
  if (to.getRank() > from.getRank())
    result.push_back(to.getShape().back());
  else if (to.getRank() < from.getRank())
    result.pop_back();
  return result;
}

// Of an operation whose types follow.
SmallVector<Shape> shapesOfTypes(Operation *op) {
  auto inference = dyn_cast<InferTypeOpInterface>(op);
  SmallVector<Type> types;
  if (!inference ||
      failed(inference.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                        op->getDiscardableAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), types)))
    return {};
  SmallVector<Shape> shapes;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return {};
    shapes.push_back(Shape(tensor.getShape()));
  }
  return shapes;
}

} // namespace

SmallVector<Shape> inferShapes(Operation *op) {
  using Shapes = SmallVector<Shape>;
  auto one = [](Shape shape) { return Shapes{std::move(shape)}; };
  if (op->getNumResults() == 1 && tessera::isElementwise(op))
    return one(mergedShape(op->getOperands()));
  return TypeSwitch<Operation *, Shapes>(op)
      .Case([&](BitcastConvertOp op) { return one(bitcast(op)); })
      .Case([&](ReshapeOp op) { return one(reshaped(op.getOperand(), shape(op.getResult()))); })
      .Case([&](DynamicReshapeOp op) {
        return one(reshaped(op.getOperand(), valuesOf(op.getOutputShape(), resultRank(op))));
      })
      .Case([&](DynamicIotaOp op) { return one(valuesOf(op.getOutputShape(), resultRank(op))); })
      .Case([&](DynamicBroadcastInDimOp op) {
        return one(valuesOf(op.getOutputDimensions(), resultRank(op)));
      })
      .Case([&](DynamicPadOp op) {
        size_t rank = resultRank(op);
        auto low = amountsOf(op.getEdgePaddingLow(), rank),
             high = amountsOf(op.getEdgePaddingHigh(), rank),
             interior = amountsOf(op.getInteriorPadding(), rank);
        return one(low && high && interior
                       ? paddedShape(shapeOf(op.getOperand()), *low, *high, *interior)
                       : Shape(rank, unknown));
      })
      .Case([&](RealDynamicSliceOp op) {
        size_t rank = resultRank(op);
        auto start = amountsOf(op.getStartIndices(), rank),
             limit = amountsOf(op.getLimitIndices(), rank),
             strides = amountsOf(op.getStrides(), rank);
        if (strides && !(start && limit)) {
          start = Shape(rank, 0);
          limit = sizesFrom(op.getStartIndices(), op.getLimitIndices(), rank);
        }
        return one(start && limit && strides ? slicedShape(*start, *limit, *strides)
                                             : Shape(rank, unknown));
      })
      .Case([&](DynamicGatherOp op) {
        return one(gatheredShape(shapeOf(op.getStartIndices()), op.getDimensionNumbers(),
                                 valuesOf(op.getSliceSizes(), shapeOf(op.getOperand()).size())));
      })
      .Case([&](DynamicConvOp op) {
        size_t spatial = shapeOf(op.getLhs()).size() - 2;
        return one(convolvedShape(shapeOf(op.getLhs()), shapeOf(op.getRhs()),
                                  op.getDimensionNumbers(), op.getBatchGroupCount(),
                                  {op.getWindowStrides(), op.getLhsDilation(), op.getRhsDilation(),
                                   amountsOf(op.getPadding(), 2 * spatial)}));
      })
      .Case([&](SetDimensionSizeOp op) {
        Shape result = shape(op.getOperand());
        std::optional<Shape> size = constantIntegers(op.getSize());
        result[op.getDimension()] = size && size->size() == 1 ? size->front() : unknown;
        return one(result);
      })
      .Case([&](RngBitGeneratorOp op) {
        return Shapes{shape(op.getInitialState()), shape(op.getOutput())};
      })
      .Default([](Operation *op) { return shapesOfTypes(op); });
}

} // namespace tessera::stablehlo
