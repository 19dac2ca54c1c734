#include "passes/communicate/RowOps.h"

#include "dialects/stablehlo/Sums.h"
#include "dialects/tessera/Marks.h"

using namespace mlir;

namespace tessera::communicate {

using stablehlo::ComparisonDirection;

Value RowOps::scalar(int64_t value) {
  auto type = RankedTensorType::get({}, b.getI32Type());
  return stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, int32_t(value)));
}

Value RowOps::zeros(RankedTensorType type) { return stablehlo::zeros(b, loc, type); }

Value RowOps::binary(StringRef op, Value lhs, Value rhs) {
  OperationState state(loc, ("stablehlo." + op).str(), ValueRange{lhs, rhs},
                       TypeRange{lhs.getType()});
  return b.create(state)->getResult(0);
}

Value RowOps::plus(Value a, int64_t c) { return c ? binary("add", a, scalar(c)) : a; }

Value RowOps::compare(Value a, Value c, ComparisonDirection direction) {
  return stablehlo::CompareOp::create(b, loc, a, c, direction, stablehlo::ComparisonType::SIGNED);
}

Value RowOps::isEqual(Value a, int64_t c) { return compare(a, scalar(c), ComparisonDirection::EQ); }

Value RowOps::select(Value mask, Value onTrue, Value onFalse) {
  OperationState state(loc, stablehlo::SelectOp::getOperationName(),
                       ValueRange{mask, onTrue, onFalse}, TypeRange{onTrue.getType()});
  return b.create(state)->getResult(0);
}

SmallVector<Value> RowOps::startsAt(Value value, int64_t dim, Value start) {
  SmallVector<Value> starts(shapeOf(value).size());
  for (Value &at : starts)
    at = scalar(0);
  starts[dim] = start;
  return starts;
}

Value RowOps::rowsAt(Value value, int64_t dim, Value start, int64_t rows) {
  SmallVector<int64_t> sizes(shapeOf(value));
  sizes[dim] = rows;
  return stablehlo::DynamicSliceOp::create(b, loc, typeOf(value).clone(sizes), value,
                                           startsAt(value, dim, start), sizes);
}

Value RowOps::withRowsAt(Value value, Value rows, int64_t dim, Value start) {
  return stablehlo::DynamicUpdateSliceOp::create(b, loc, value.getType(), value, rows,
                                                 startsAt(value, dim, start));
}

Value RowOps::rowsBetween(Value value, int64_t dim, int64_t begin, int64_t end) {
  if (begin == 0 && end == shapeOf(value)[dim])
    return value;
  SmallVector<int64_t> from(shapeOf(value).size(), 0), to(shapeOf(value)), by(from.size(), 1),
      shape(to);
  from[dim] = begin, to[dim] = end, shape[dim] = end - begin;
  return stablehlo::SliceOp::create(b, loc, typeOf(value).clone(shape), value, from, to, by);
}

Value RowOps::padded(Value value, int64_t dim, int64_t rows) {
  SmallVector<int64_t> none(shapeOf(value).size(), 0), high(none), shape(shapeOf(value));
  if (shape[dim] == rows)
    return value;
  high[dim] = rows - shape[dim], shape[dim] = rows;
  Value zero = zeros(RankedTensorType::get({}, typeOf(value).getElementType()));
  return stablehlo::PadOp::create(b, loc, typeOf(value).clone(shape), value, zero, none, high,
                                  none);
}

Value RowOps::filledFrom(Value value, int64_t dim, Value start, int64_t end, Value fill) {
  auto numbers = RankedTensorType::get(shapeOf(value), b.getI32Type());
  auto spread = [&](RankedTensorType type, Value one) -> Value {
    return stablehlo::BroadcastInDimOp::create(b, loc, type, one, ArrayRef<int64_t>{});
  };
  Value row = stablehlo::IotaOp::create(b, loc, numbers, dim);
  row = binary("add", row, spread(numbers, start));
  Value inside = compare(row, spread(numbers, scalar(end)), ComparisonDirection::LT);
  return select(inside, value, spread(typeOf(value), fill));
}

SmallVector<Value> RowOps::loop(int64_t trips, ValueRange values,
                                function_ref<SmallVector<Value>(RowOps &, ValueRange)> body) {
  SmallVector<Value> carried{scalar(0)};
  llvm::append_range(carried, values);
  SmallVector<Type> types(ValueRange(carried).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto made = stablehlo::WhileOp::create(b, loc, types, carried);
  setTripCount(made, trips);
  RowOps inside{OpBuilder(b.getContext()), loc};
  Block *condition = inside.b.createBlock(&made.getCond(), {}, types, locations);
  stablehlo::ReturnOp::create(
      inside.b, loc,
      inside.compare(condition->getArgument(0), inside.scalar(trips), ComparisonDirection::LT));
  Block *trip = inside.b.createBlock(&made.getBody(), {}, types, locations);
  SmallVector<Value> left{inside.plus(trip->getArgument(0), 1)};
  llvm::append_range(left, body(inside, trip->getArguments().drop_front()));
  stablehlo::ReturnOp::create(inside.b, loc, left);
  return llvm::to_vector_of<Value>(made.getResults().drop_front());
}

} // namespace tessera::communicate
