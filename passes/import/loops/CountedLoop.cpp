#include "passes/import/loops/CountedLoop.h"

using namespace mlir;

namespace tessera::import {

Value scalar(OpBuilder &b, Location loc, int64_t number) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  return stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, number));
}

Value reshape(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  return stablehlo::ReshapeOp::create(b, loc, type, value);
}

stablehlo::WhileOp countedLoop(OpBuilder &b, Location loc, ValueRange values, int64_t trips) {
  SmallVector<Value> carried{scalar(b, loc, 0)};
  llvm::append_range(carried, values);
  SmallVector<Type> types = llvm::to_vector(ValueRange(carried).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto loop = stablehlo::WhileOp::create(b, loc, types, carried);
  OpBuilder inside(b.getContext());
  Block *condition = inside.createBlock(&loop.getCond(), {}, types, locations);
  Value more = stablehlo::CompareOp::create(
      inside, loc, condition->getArgument(0), scalar(inside, loc, trips),
      stablehlo::ComparisonDirection::LT, stablehlo::ComparisonType::SIGNED);
  stablehlo::ReturnOp::create(inside, loc, more);
  inside.createBlock(&loop.getBody(), {}, types, locations);
  return loop;
}

} // namespace tessera::import
