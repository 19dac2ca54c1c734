// Masks and slices of rows, as StableHLO.
#include "passes/localize/Rows.h"

#include "dialects/stablehlo/ShapeInference.h"
#include "dialects/stablehlo/TensorTypes.h"

using namespace mlir;

namespace tessera::localize {
namespace {

// The element as an attribute; null for types that have no such value.
Attribute elementOf(Type type, ReductionKind kind) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    bool isUnsigned = integer.isUnsigned() || width == 1;
    APInt value(width, 0);
    switch (kind) {
    case ReductionKind::Sum:
    case ReductionKind::Or:
      break;
    case ReductionKind::Product:
      value = APInt(width, 1);
      break;
    case ReductionKind::And:
      value = APInt::getAllOnes(width);
      break;
    case ReductionKind::Max:
      value = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
      break;
    case ReductionKind::Min:
      value = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
      break;
    }
    return IntegerAttr::get(type, value);
  }
  if (auto floating = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    bool negative = kind == ReductionKind::Max;
    switch (kind) {
    case ReductionKind::Sum:
      return FloatAttr::get(type, APFloat::getZero(semantics));
    case ReductionKind::Product:
      return FloatAttr::get(type, APFloat(semantics, 1));
    case ReductionKind::Max:
    case ReductionKind::Min:
      return FloatAttr::get(type, APFloat::semanticsHasInf(semantics)
                                      ? APFloat::getInf(semantics, negative)
                                      : APFloat::getLargest(semantics, negative));
    default:
      return {};
    }
  }
  return {};
}

SplatElementsAttr splatConstant(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
}

} // namespace

Value scalar(Localizer &l, int64_t value) {
  auto type = RankedTensorType::get({}, l.b.getI32Type());
  return stablehlo::ConstantOp::create(l.b, l.loc, DenseElementsAttr::get(type, int32_t(value)));
}

Value binary(Localizer &l, StringRef op, Value lhs, Value rhs) {
  OperationState state(l.loc, ("stablehlo." + op).str(), ValueRange{lhs, rhs},
                       TypeRange{lhs.getType()});
  return l.b.create(state)->getResult(0);
}

Value compare(Localizer &l, Value lhs, Value rhs, stablehlo::ComparisonDirection direction) {
  OperationState state(l.loc, stablehlo::CompareOp::getOperationName(), ValueRange{lhs, rhs},
                       TypeRange{typeOf(lhs).clone(l.b.getI1Type())});
  state.addAttribute("comparison_direction",
                     stablehlo::ComparisonDirectionAttr::get(l.b.getContext(), direction));
  return l.b.create(state)->getResult(0);
}

Value select(Localizer &l, Value mask, Value onTrue, Value onFalse) {
  OperationState state(l.loc, stablehlo::SelectOp::getOperationName(),
                       ValueRange{mask, onTrue, onFalse}, TypeRange{onTrue.getType()});
  return l.b.create(state)->getResult(0);
}

Value splat(Localizer &l, Value scalar, ArrayRef<int64_t> shape) {
  if (shape.empty())
    return scalar;
  auto type = RankedTensorType::get(shape, typeOf(scalar).getElementType());
  if (SplatElementsAttr constant = splatConstant(scalar))
    return stablehlo::ConstantOp::create(l.b, l.loc, constant.resizeSplat(type));
  return stablehlo::BroadcastInDimOp::create(l.b, l.loc, type, scalar, ArrayRef<int64_t>{});
}

Value myStart(Localizer &l, ArrayRef<sharding::AxisRef> axes, int64_t step, int64_t offset) {
  if (axes.empty() || step == 0)
    return scalar(l, offset);
  Value index = comm::AxisIndexOp::create(l.b, l.loc, l.axesAttr(axes));
  if (step != 1)
    index = binary(l, "multiply", index, scalar(l, step));
  return offset ? binary(l, "add", index, scalar(l, offset)) : index;
}

Value rowNumbers(Localizer &l, ArrayRef<int64_t> shape, int64_t dim, Value start) {
  auto type = RankedTensorType::get(shape, l.b.getI32Type());
  Value numbers = stablehlo::IotaOp::create(l.b, l.loc, type, dim);
  return start ? binary(l, "add", numbers, splat(l, start, shape)) : numbers;
}

Value rowsBetween(Localizer &l, ArrayRef<int64_t> shape, int64_t dim, Value start, int64_t begin,
                  int64_t end) {
  Value numbers = rowNumbers(l, shape, dim, start);
  using Direction = stablehlo::ComparisonDirection;
  Value above = compare(l, numbers, splat(l, scalar(l, begin), shape), Direction::GE);
  Value below = compare(l, numbers, splat(l, scalar(l, end), shape), Direction::LT);
  return binary(l, "and", above, below);
}

Value zeros(Localizer &l, RankedTensorType type) { return neutral(l, type, ReductionKind::Sum); }

Value neutral(Localizer &l, RankedTensorType type, ReductionKind kind) {
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    auto element = cast<FloatType>(complex.getElementType());
    APFloat real = kind == ReductionKind::Product ? APFloat(element.getFloatSemantics(), 1)
                                                  : APFloat::getZero(element.getFloatSemantics());
    std::complex<APFloat> value(real, APFloat::getZero(element.getFloatSemantics()));
    return stablehlo::ConstantOp::create(l.b, l.loc, DenseElementsAttr::get(type, value));
  }
  Attribute element = elementOf(type.getElementType(), kind);
  if (!element)
    return {};
  return stablehlo::ConstantOp::create(l.b, l.loc, DenseElementsAttr::get(type, element));
}

Value absent(Localizer &l, RankedTensorType type, ReductionKind kind) {
  if (kind != ReductionKind::Sum)
    return neutral(l, type, kind);
  Type element = type.getElementType(), part = element;
  if (auto complex = dyn_cast<ComplexType>(element))
    part = complex.getElementType();
  auto floating = dyn_cast<FloatType>(part);
  if (!floating)
    return zeros(l, type);
  // Of a type that has no -0 this is its zero.
  APFloat zero = APFloat::getZero(floating.getFloatSemantics(), /*Negative=*/true);
  auto elements = part == element ? DenseElementsAttr::get(type, zero)
                                  : DenseElementsAttr::get(type, std::complex<APFloat>(zero, zero));
  return stablehlo::ConstantOp::create(l.b, l.loc, elements);
}

bool isNeutral(Value value, ReductionKind kind) {
  SplatElementsAttr constant = splatConstant(value);
  if (!constant)
    return false;
  Type type = constant.getElementType();
  if (isa<ComplexType>(type)) {
    std::complex<APFloat> element = constant.getSplatValue<std::complex<APFloat>>();
    return kind == ReductionKind::Sum && element.real().isZero() && element.imag().isZero();
  }
  if (kind == ReductionKind::Sum && isa<FloatType>(type))
    return constant.getSplatValue<APFloat>().isZero(); // -0 too
  return constant.getSplatValue<Attribute>() == elementOf(type, kind);
}

Value maskPadding(Localizer &l, Value value, int64_t dim, const DimLayout &layout, int64_t size,
                  Value fill) {
  if (!isUneven(layout, size))
    return value;
  ArrayRef<int64_t> shape = shapeOf(value);
  Value start = myStart(l, layout.axes, layout.tile, 0);
  Value inside = compare(l, rowNumbers(l, shape, dim, start), splat(l, scalar(l, size), shape),
                         stablehlo::ComparisonDirection::LT);
  return select(l, inside, value, splat(l, fill, shape));
}

Value sliceRows(Localizer &l, Value value, int64_t dim, int64_t begin, int64_t end,
                int64_t stride) {
  if (begin == 0 && end == shapeOf(value)[dim] && stride == 1)
    return value;
  SmallVector<int64_t> from(shapeOf(value).size(), 0), to(shapeOf(value)),
      by(shapeOf(value).size(), 1);
  from[dim] = begin, to[dim] = end, by[dim] = stride;
  return stablehlo::SliceOp::create(
      l.b, l.loc, typeOf(value).clone(stablehlo::slicedShape(from, to, by)), value, from, to, by);
}

Value padRows(Localizer &l, Value value, int64_t dim, int64_t low, int64_t high, Value fill) {
  if (low == 0 && high == 0)
    return value;
  SmallVector<int64_t> lows(shapeOf(value).size(), 0), highs(lows), interior(lows),
      shape(shapeOf(value));
  lows[dim] = low, highs[dim] = high, shape[dim] += low + high;
  if (!fill)
    fill = zeros(l, RankedTensorType::get({}, typeOf(value).getElementType()));
  return stablehlo::PadOp::create(l.b, l.loc, typeOf(value).clone(shape), value, fill, lows, highs,
                                  interior);
}

Value concatRows(Localizer &l, ValueRange values, int64_t dim) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> shape(shapeOf(values.front()));
  shape[dim] = 0;
  for (Value value : values)
    shape[dim] += shapeOf(value)[dim];
  return stablehlo::ConcatenateOp::create(l.b, l.loc, typeOf(values.front()).clone(shape), values,
                                          dim);
}

Value dynamicRows(Localizer &l, Value value, int64_t dim, Value start, int64_t length) {
  SmallVector<Value> starts(shapeOf(value).size(), scalar(l, 0));
  starts[dim] = start;
  SmallVector<int64_t> sizes(shapeOf(value));
  sizes[dim] = length;
  return stablehlo::DynamicSliceOp::create(l.b, l.loc, typeOf(value).clone(sizes), value, starts,
                                           sizes);
}

} // namespace tessera::localize
