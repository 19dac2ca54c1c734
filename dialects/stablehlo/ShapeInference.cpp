#include "dialects/stablehlo/ShapeInference.h"

#include "dialects/stablehlo/Constraints.h"
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

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Shape shape(Value value) { return Shape(shapeOf(value)); }

// What operands of one shape know together; those of rank 0 are let through where `scalars` may be.
Shape merged(ValueRange operands) {
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

// A shape that an operand holds, as long as the result's rank.
Shape valuesOf(Value value, size_t rank) {
  std::optional<Shape> values = constantIntegers(value);
  return values && values->size() == rank ? *values : Shape(rank, unknown);
}

size_t resultRank(Operation *op) { return shapeOf(op->getResult(0)).size(); }

Shape without(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  Shape kept;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dims, int64_t(d)))
      kept.push_back(size);
  return kept;
}

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

Shape gathered(Operation *op, ArrayRef<int64_t> indices, GatherDimensionNumbersAttr dims,
               ArrayRef<int64_t> sizes) {
  Shape dropped(dims.getCollapsedSliceDims());
  llvm::append_range(dropped, dims.getOperandBatchingDims());
  Shape slices = without(sizes, dropped), batches = without(indices, dims.getIndexVectorDim());
  Shape result(resultRank(op));
  size_t o = 0, b = 0;
  for (auto [d, size] : llvm::enumerate(result))
    size = llvm::is_contained(dims.getOffsetDims(), int64_t(d)) ? slices[o++] : batches[b++];
  return result;
}

Shape padded(ArrayRef<int64_t> from, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
             ArrayRef<int64_t> interior) {
  Shape to;
  for (size_t d = 0; d < from.size(); ++d) {
    bool known = !llvm::is_contained({low[d], high[d], interior[d]}, unknown);
    to.push_back(known ? paddedSize(from[d], interior[d] + 1, low[d], high[d]) : unknown);
  }
  return to;
}

Shape sliced(ArrayRef<int64_t> start, ArrayRef<int64_t> limit, ArrayRef<int64_t> strides) {
  Shape to;
  for (size_t d = 0; d < start.size(); ++d) {
    bool known = !llvm::is_contained({start[d], limit[d], strides[d]}, unknown) && strides[d] > 0;
    to.push_back(known ? (limit[d] - start[d] + strides[d] - 1) / strides[d] : unknown);
  }
  return to;
}

Shape multiplied(DotGeneralOp op) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  Shape result, lhsUsed(dims.getLhsBatchingDimensions()), rhsUsed(dims.getRhsBatchingDimensions());
  for (auto [l, r] : llvm::zip(lhsUsed, rhsUsed)) {
    int64_t size = shapeOf(op.getLhs())[l];
    result.push_back(ShapedType::isDynamic(size) ? shapeOf(op.getRhs())[r] : size);
  }
  llvm::append_range(lhsUsed, dims.getLhsContractingDimensions());
  llvm::append_range(rhsUsed, dims.getRhsContractingDimensions());
  llvm::append_range(result, without(shapeOf(op.getLhs()), lhsUsed));
  llvm::append_range(result, without(shapeOf(op.getRhs()), rhsUsed));
  return result;
}

int64_t at(std::optional<ArrayRef<int64_t>> values, int64_t i) { return values ? (*values)[i] : 1; }

template <typename Conv> Shape convolved(Conv op, ArrayRef<int64_t> padding) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  Shape result(lhs.size());
  int64_t batch = lhs[dims.getInputBatchDimension()];
  result[dims.getOutputBatchDimension()] =
      ShapedType::isDynamic(batch) ? batch : batch / int64_t(op.getBatchGroupCount());
  result[dims.getOutputFeatureDimension()] = rhs[dims.getKernelOutputFeatureDimension()];
  for (auto [i, d] : llvm::enumerate(dims.getOutputSpatialDimensions())) {
    bool known = !llvm::is_contained(padding.slice(2 * i, 2), unknown);
    int64_t size = lhs[dims.getInputSpatialDimensions()[i]];
    result[d] = !known ? unknown
                       : windowCount(paddedSize(size, at(op.getLhsDilation(), i), padding[2 * i],
                                                padding[2 * i + 1]),
                                     rhs[dims.getKernelSpatialDimensions()[i]],
                                     at(op.getRhsDilation(), i), at(op.getWindowStrides(), i));
  }
  return result;
}

Shape paddingOf(std::optional<DenseIntElementsAttr> padding, size_t dims) {
  return padding ? Shape(padding->getValues<int64_t>()) : Shape(2 * dims, 0);
}

Shape windows(ReduceWindowOp op) {
  Shape from = merged(op.getInputs()), result, padding = paddingOf(op.getPadding(), from.size());
  for (auto [d, size] : llvm::enumerate(from))
    result.push_back(windowCount(
        paddedSize(size, at(op.getBaseDilations(), d), padding[2 * d], padding[2 * d + 1]),
        op.getWindowDimensions()[d], at(op.getWindowDilations(), d),
        at(op.getWindowStrides(), d)));
  return result;
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

Shape transformed(FftOp op) {
  Shape result = shape(op.getOperand());
  int64_t last = op.getFftLength().back();
  if (op.getFftType() == FftType::RFFT)
    result.back() = last ? last / 2 + 1 : 0;
  if (op.getFftType() == FftType::IRFFT)
    result.back() = last;
  return result;
}

Shape concatenated(ConcatenateOp op) {
  int64_t d = op.getDimension(), total = 0;
  for (Value input : op.getInputs()) {
    int64_t size = shapeOf(input)[d];
    total = ShapedType::isDynamic(total) || ShapedType::isDynamic(size) ? unknown : total + size;
  }
  Shape result = merged(op.getInputs());
  result[d] = total;
  return result;
}

} // namespace

SmallVector<Shape> inferShapes(Operation *op) {
  using Shapes = SmallVector<Shape>;
  auto one = [](Shape shape) { return Shapes{std::move(shape)}; };
  auto all = [&](const Shape &shape) { return Shapes(op->getNumResults(), shape); };
  auto likeOperands = [&](ValueRange operands) {
    Shapes shapes;
    for (Value operand : operands)
      shapes.push_back(shape(operand));
    return shapes;
  };
  if (op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>())
    return one(merged(op->getOperands()));
  return TypeSwitch<Operation *, Shapes>(op)
      .Case([&](SelectOp op) { return one(merged({op.getOnTrue(), op.getOnFalse()})); })
      .Case([&](ClampOp op) { return one(shape(op.getOperand())); })
      .Case([&](BitcastConvertOp op) { return one(bitcast(op)); })
      .Case([&](ReshapeOp op) { return one(reshaped(op.getOperand(), shape(op.getResult()))); })
      .Case([&](DynamicReshapeOp op) {
        return one(reshaped(op.getOperand(), valuesOf(op.getOutputShape(), resultRank(op))));
      })
      .Case([&](DynamicIotaOp op) { return one(valuesOf(op.getOutputShape(), resultRank(op))); })
      .Case([&](DynamicBroadcastInDimOp op) {
        return one(valuesOf(op.getOutputDimensions(), resultRank(op)));
      })
      .Case([&](RngOp op) { return one(valuesOf(op.getShape(), resultRank(op))); })
      .Case([&](TransposeOp op) {
        Shape result;
        for (int64_t d : op.getPermutation())
          result.push_back(shapeOf(op.getOperand())[d]);
        return one(result);
      })
      .Case([&](ConcatenateOp op) { return one(concatenated(op)); })
      .Case([&](PadOp op) {
        return one(padded(shapeOf(op.getOperand()), op.getEdgePaddingLow(),
                          op.getEdgePaddingHigh(), op.getInteriorPadding()));
      })
      .Case([&](DynamicPadOp op) {
        size_t rank = resultRank(op);
        return one(padded(shapeOf(op.getOperand()), valuesOf(op.getEdgePaddingLow(), rank),
                          valuesOf(op.getEdgePaddingHigh(), rank),
                          valuesOf(op.getInteriorPadding(), rank)));
      })
      .Case([&](SliceOp op) {
        return one(sliced(op.getStartIndices(), op.getLimitIndices(), op.getStrides()));
      })
      .Case([&](RealDynamicSliceOp op) {
        size_t rank = resultRank(op);
        return one(sliced(valuesOf(op.getStartIndices(), rank),
                          valuesOf(op.getLimitIndices(), rank), valuesOf(op.getStrides(), rank)));
      })
      .Case([&](DynamicSliceOp op) { return one(Shape(op.getSliceSizes())); })
      .Case([&](DynamicUpdateSliceOp op) { return one(shape(op.getOperand())); })
      .Case([&](GatherOp op) {
        return one(gathered(op, shapeOf(op.getStartIndices()), op.getDimensionNumbers(),
                            op.getSliceSizes()));
      })
      .Case([&](DynamicGatherOp op) {
        return one(gathered(op, shapeOf(op.getStartIndices()), op.getDimensionNumbers(),
                            valuesOf(op.getSliceSizes(), shapeOf(op.getOperand()).size())));
      })
      .Case([&](SetDimensionSizeOp op) {
        Shape result = shape(op.getOperand());
        std::optional<Shape> size = constantIntegers(op.getSize());
        result[op.getDimension()] = size && size->size() == 1 ? size->front() : unknown;
        return one(result);
      })
      .Case([&](DotGeneralOp op) { return one(multiplied(op)); })
      .Case([&](DotOp op) {
        Shape result(shapeOf(op.getLhs()).drop_back());
        llvm::append_range(result, shapeOf(op.getRhs()).drop_front());
        return one(result);
      })
      .Case([&](ConvolutionOp op) {
        return one(
            convolved(op, paddingOf(op.getPadding(), shapeOf(op.getLhs()).size() - 2)));
      })
      .Case([&](DynamicConvOp op) {
        return one(convolved(
            op, valuesOf(op.getPadding(), 2 * (shapeOf(op.getLhs()).size() - 2))));
      })
      .Case([&](ReduceOp op) { return all(without(merged(op.getInputs()), op.getDimensions())); })
      .Case([&](ReduceWindowOp op) { return all(windows(op)); })
      .Case([&](SelectAndScatterOp op) { return one(shape(op.getOperand())); })
      .Case([&](ScatterOp op) { return likeOperands(op.getInputs()); })
      .Case([&](SortOp op) { return all(merged(op.getInputs())); })
      .Case([&](MapOp op) { return one(merged(op.getInputs())); })
      .Case([&](FftOp op) { return one(transformed(op)); })
      .Case([&](TriangularSolveOp op) { return one(shape(op.getB())); })
      .Case([&](RngBitGeneratorOp op) {
        return Shapes{shape(op.getInitialState()), shape(op.getOutput())};
      })
      .Case([&](BatchNormInferenceOp op) { return one(shape(op.getOperand())); })
      .Case([&](BatchNormTrainingOp op) {
        return Shapes{shape(op.getOperand()), shape(op.getScale()), shape(op.getScale())};
      })
      .Case([&](BatchNormGradOp op) {
        return Shapes{shape(op.getOperand()), shape(op.getScale()), shape(op.getScale())};
      })
      .Case<AllReduceOp, CollectivePermuteOp, CholeskyOp, ReverseOp, CrossReplicaSumOp>(
          [&](Operation *op) { return likeOperands(op->getOperands()); })
      .Default([](Operation *) { return Shapes(); });
}

} // namespace tessera::stablehlo
