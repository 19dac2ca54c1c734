#include "passes/reshard/SplitDimension.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include <numeric>

namespace tessera {

using namespace mlir;
using sharding::TensorSharding;

SplitDimension::SplitDimension(const ValueShardings &shardings, Operation *op, Value like,
                               int64_t dim)
    : b(op), loc(op->getLoc()), valueShardings(shardings) {
  ArrayRef<int64_t> whole = shapeOf(like);
  TensorSharding sharding = shardings.of(like);
  outer.assign(whole.begin(), whole.begin() + dim);
  inner.assign(whole.begin() + dim + 1, whole.end());
  outerAxes.assign(sharding.dims.begin(), sharding.dims.begin() + dim);
  innerAxes.assign(sharding.dims.begin() + dim + 1, sharding.dims.end());
}

SmallVector<int64_t> SplitDimension::shape(Parts sizes) const {
  SmallVector<int64_t> all(outer);
  all.append(sizes.begin(), sizes.end());
  all.append(inner);
  return all;
}

TensorSharding SplitDimension::sharding(PartAxes axes) const {
  TensorSharding all;
  all.dims.assign(outerAxes.begin(), outerAxes.end());
  for (const sharding::AxisRefs &each : axes) {
    sharding::DimSharding dim;
    dim.axes = each;
    all.dims.push_back(dim);
  }
  all.dims.append(innerAxes.begin(), innerAxes.end());
  return all;
}

Value SplitDimension::annotated(Value value, Value like) {
  return annotated(value, valueShardings.of(like));
}

Value SplitDimension::annotated(Value value, const TensorSharding &sharding) {
  valueShardings.set(value, sharding);
  return value;
}

Value SplitDimension::reshaped(Value value, Parts sizes, PartAxes axes) {
  return annotated(stablehlo::ReshapeOp::create(b, loc, typeOf(value).clone(shape(sizes)), value),
                   sharding(axes));
}

Value SplitDimension::move(Value value, PartAxes axes) {
  return sdy::ReshardOp::create(b, loc, value.getType(), value,
                                valueShardings.attr(sharding(axes)));
}

Value SplitDimension::transposed(Value value, ArrayRef<int64_t> order) {
  SmallVector<int64_t> all(typeOf(value).getRank());
  std::iota(all.begin(), all.end(), 0);
  for (auto [to, from] : llvm::enumerate(order))
    all[outer.size() + to] = outer.size() + from;
  TensorSharding from = valueShardings.of(value), to = from;
  for (auto [r, o] : llvm::enumerate(all))
    to.dims[r] = from.dims[o];
  return annotated(stablehlo::TransposeOp::create(b, loc, value, all), to);
}

Value SplitDimension::sliced(Value value, int64_t part, int64_t begin, int64_t end) {
  if (begin == 0 && end == typeOf(value).getDimSize(outer.size() + part))
    return value;
  SmallVector<int64_t> from(typeOf(value).getRank(), 0), to(typeOf(value).getShape()),
      by(from.size(), 1);
  from[outer.size() + part] = begin, to[outer.size() + part] = end;
  return annotated(stablehlo::SliceOp::create(b, loc, value, from, to, by), value);
}

Value SplitDimension::padded(Value value, int64_t part, int64_t low, int64_t high, Value fill) {
  if (low == 0 && high == 0)
    return value;
  SmallVector<int64_t> lows(typeOf(value).getRank(), 0), highs(lows), interior(lows);
  lows[outer.size() + part] = low, highs[outer.size() + part] = high;
  if (!fill)
    fill = annotated(stablehlo::zero(b, loc, typeOf(value).getElementType()),
                     TensorSharding::replicatedOver(0));
  return annotated(stablehlo::PadOp::create(b, loc, value, fill, lows, highs, interior), value);
}

Value SplitDimension::joined(ValueRange values, int64_t part) {
  return annotated(stablehlo::ConcatenateOp::create(b, loc, values, outer.size() + part),
                   values.front());
}

Value SplitDimension::repeated(Value value, int64_t parts, int64_t size) {
  SmallVector<int64_t> to(typeOf(value).getShape()), dims;
  size_t at = outer.size() + parts;
  for (size_t d = 0; d < to.size(); ++d)
    dims.push_back(d < at ? d : d + 1);
  TensorSharding sharding = valueShardings.of(value);
  to.insert(to.begin() + at, size);
  sharding.dims.insert(sharding.dims.begin() + at, sharding::DimSharding());
  return annotated(
      stablehlo::BroadcastInDimOp::create(b, loc, typeOf(value).clone(to), value, dims), sharding);
}

Value SplitDimension::positions(Value like, int64_t part, Type integer) {
  return annotated(
      stablehlo::IotaOp::create(b, loc, typeOf(like).clone(integer), outer.size() + part), like);
}

Value SplitDimension::positions(Parts sizes, PartAxes axes, int64_t part, Type integer) {
  return annotated(stablehlo::IotaOp::create(b, loc, RankedTensorType::get(shape(sizes), integer),
                                             outer.size() + part),
                   sharding(axes));
}

Value SplitDimension::number(Value like, int64_t value) {
  RankedTensorType type = typeOf(like);
  return annotated(
      stablehlo::ConstantOp::create(
          b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), value))),
      like);
}

Value SplitDimension::converted(Value value, Type element) {
  if (typeOf(value).getElementType() == element)
    return value;
  return annotated(stablehlo::ConvertOp::create(b, loc, typeOf(value).clone(element), value),
                   value);
}

Value SplitDimension::compare(Value a, Value b_, stablehlo::ComparisonDirection direction) {
  return annotated(
      stablehlo::CompareOp::create(b, loc, a, b_, direction, stablehlo::ComparisonType::SIGNED), a);
}

Value SplitDimension::select(Value mask, Value onTrue, Value onFalse) {
  return annotated(stablehlo::SelectOp::create(b, loc, mask, onTrue, onFalse), onTrue);
}

Value SplitDimension::summed(Value value, int64_t part) {
  int64_t dim = outer.size() + part;
  Value init = annotated(stablehlo::zero(b, loc, typeOf(value).getElementType()),
                         TensorSharding::replicatedOver(0));
  SmallVector<int64_t> to(typeOf(value).getShape());
  TensorSharding sharding = valueShardings.of(value);
  to.erase(to.begin() + dim);
  sharding.dims.erase(sharding.dims.begin() + dim);
  auto reduce = stablehlo::ReduceOp::create(b, loc, TypeRange{typeOf(value).clone(to)}, value, init,
                                            ArrayRef<int64_t>{dim});
  stablehlo::fillWithSum(b, loc, reduce.getBody(), typeOf(value).getElementType());
  return annotated(reduce.getResult(0), sharding);
}

Value SplitDimension::summedBefore(Value value, int64_t part) {
  int64_t dim = outer.size() + part, rank = typeOf(value).getRank();
  Value init = annotated(stablehlo::zero(b, loc, typeOf(value).getElementType()),
                         TensorSharding::replicatedOver(0));
  SmallVector<int64_t> window(rank, 1), ones(rank, 1), padding(2 * rank, 0);
  window[dim] = typeOf(value).getDimSize(dim);
  padding[2 * dim] = window[dim] - 1;
  auto attr = [&](ArrayRef<int64_t> numbers) { return b.getDenseI64ArrayAttr(numbers); };
  auto sums = stablehlo::ReduceWindowOp::create(
      b, loc, TypeRange{value.getType()}, value, init, attr(window), attr(ones), attr(ones),
      attr(ones),
      DenseIntElementsAttr::get(RankedTensorType::get({rank, 2}, b.getI64Type()), padding));
  stablehlo::fillWithSum(b, loc, sums.getBody(), typeOf(value).getElementType());
  return binary<stablehlo::SubtractOp>(annotated(sums.getResult(0), value), value);
}

SplitDimension::Values SplitDimension::sorted(ValueRange values, int64_t part, Before before) {
  SmallVector<Type> types(values.getTypes()), arguments;
  auto sort = stablehlo::SortOp::create(b, loc, types, values, outer.size() + part,
                                        /*is_stable=*/true);
  for (Value value : values)
    arguments.append(2, RankedTensorType::get({}, typeOf(value).getElementType()));
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&sort.getComparator(), {}, arguments,
                               SmallVector<Location>(arguments.size(), loc));
  Values first, second;
  for (size_t i = 0; i < values.size(); ++i) {
    first.push_back(block->getArgument(2 * i));
    second.push_back(block->getArgument(2 * i + 1));
  }
  stablehlo::ReturnOp::create(b, loc, before(b, first, second));
  for (auto [result, value] : llvm::zip_equal(sort.getResults(), values))
    annotated(result, value);
  return Values(sort.getResults());
}

Value SplitDimension::comesBefore(OpBuilder &b, stablehlo::SortOp sort, ValueRange a,
                                  ValueRange b_) {
  Block &block = sort.getComparator().front();
  IRMapping mapping;
  for (size_t i = 0; i < sort.getInputs().size(); ++i) {
    mapping.map(block.getArgument(2 * i), a[i]);
    mapping.map(block.getArgument(2 * i + 1), b_[i]);
  }
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

} // namespace tessera
