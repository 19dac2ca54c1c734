// A map whose computation holds more than elementwise operations runs it element by element.
//
//   %r = "stablehlo.map"(%x) ({^bb0(%a: tensor<f32>): .. while .. }) {dimensions = [0]}
// becomes
//   %r = while (%i < n): %a = dynamic_slice %x at %i;  ..;  dynamic_update_slice %r at %i
#include "passes/import/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/import/Zeros.h"

namespace tessera {
#define GEN_PASS_DEF_LOOPOVERMAP
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

Value constant(OpBuilder &b, Location loc, int64_t number) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  return stablehlo::ConstantOp::create(b, loc, DenseElementsAttr::get(type, number));
}

Value reshape(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  return stablehlo::ReshapeOp::create(b, loc, type, value);
}

void loopOver(stablehlo::MapOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t size = type.getNumElements();
  SmallVector<Value> carried{constant(b, loc, 0)};
  for (Value input : op.getInputs())
    carried.push_back(reshape(b, loc, input, {size}));
  // The result starts as anything of its type: all of it is written.
  auto flat = type.clone(ArrayRef<int64_t>{size});
  carried.push_back(import::zeros(b, loc, flat));
  SmallVector<Type> types = llvm::to_vector(ValueRange(carried).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto loop = stablehlo::WhileOp::create(b, loc, types, carried);

  OpBuilder inside(op.getContext());
  Block *condition = inside.createBlock(&loop.getCond(), {}, types, locations);
  Value more = stablehlo::CompareOp::create(
      inside, loc, condition->getArgument(0), constant(inside, loc, size),
      stablehlo::ComparisonDirection::LT, stablehlo::ComparisonType::SIGNED);
  stablehlo::ReturnOp::create(inside, loc, more);

  Block *body = inside.createBlock(&loop.getBody(), {}, types, locations);
  Value index = body->getArgument(0);
  IRMapping mapping;
  Block &computation = op.getComputation().front();
  for (auto [i, argument] : llvm::enumerate(computation.getArguments())) {
    Value element = stablehlo::DynamicSliceOp::create(inside, loc, body->getArgument(1 + i), index,
                                                      ArrayRef<int64_t>{1});
    mapping.map(argument, reshape(inside, loc, element, {}));
  }
  for (Operation &inner : computation.without_terminator())
    inside.clone(inner, mapping);
  Value made = mapping.lookupOrDefault(computation.getTerminator()->getOperand(0));
  SmallVector<Value> next(body->getArguments());
  next.back() = stablehlo::DynamicUpdateSliceOp::create(inside, loc, next.back(),
                                                        reshape(inside, loc, made, {1}), index);
  next.front() = stablehlo::AddOp::create(inside, loc, index, constant(inside, loc, 1));
  stablehlo::ReturnOp::create(inside, loc, next);

  Value result = reshape(b, loc, loop->getResults().back(), type.getShape());
  if (Attribute sharding = op->getAttr("sdy.sharding"))
    result.getDefiningOp()->setAttr("sdy.sharding", sharding);
  op.replaceAllUsesWith(result);
  op.erase();
}

struct LoopOverMapPass : impl::LoopOverMapBase<LoopOverMapPass> {
  void runOnOperation() override {
    SmallVector<stablehlo::MapOp> maps;
    getOperation().walk([&](stablehlo::MapOp op) { maps.push_back(op); });
    for (stablehlo::MapOp op : maps)
      if (op.getType().hasStaticShape())
        loopOver(op);
  }
};

} // namespace
} // namespace tessera
