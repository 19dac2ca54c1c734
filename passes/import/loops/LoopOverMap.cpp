// A map whose computation holds more than elementwise operations runs it element by element.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/OpsWithin.h"
#include "passes/import/loops/CountedLoop.h"

namespace tessera {
#define GEN_PASS_DEF_LOOPOVERMAP
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::import;

namespace {

void loopOver(stablehlo::MapOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t size = type.getNumElements();
  SmallVector<Value> carried;
  for (Value input : op.getInputs())
    carried.push_back(reshape(b, loc, input, {size}));
  // The result starts as anything of its type: all of it is written.
  auto flat = type.clone(ArrayRef<int64_t>{size});
  carried.push_back(stablehlo::zeros(b, loc, flat));
  stablehlo::WhileOp loop = countedLoop(b, loc, carried, size);

  Block *body = &loop.getBody().front();
  OpBuilder inside = OpBuilder::atBlockEnd(body);
  Value index = body->getArgument(0);
  Block &computation = op.getComputation().front();
  for (auto [i, argument] : llvm::enumerate(computation.getArguments())) {
    Value element = stablehlo::DynamicSliceOp::create(inside, loc, body->getArgument(1 + i), index,
                                                      ArrayRef<int64_t>{1});
    argument.replaceAllUsesWith(reshape(inside, loc, element, {}));
  }
  Value made = computation.getTerminator()->getOperand(0);
  body->getOperations().splice(body->end(), computation.getOperations(), computation.begin(),
                               std::prev(computation.end()));
  SmallVector<Value> next(body->getArguments());
  next.back() = stablehlo::DynamicUpdateSliceOp::create(inside, loc, next.back(),
                                                        reshape(inside, loc, made, {1}), index);
  next.front() = stablehlo::AddOp::create(inside, loc, index, scalar(inside, loc, 1));
  stablehlo::ReturnOp::create(inside, loc, next);

  Value result = reshape(b, loc, loop->getResults().back(), type.getShape());
  sdy::keepSharding(op->getResults(), result);
  op.replaceAllUsesWith(result);
  op.erase();
}

struct LoopOverMapPass : impl::LoopOverMapBase<LoopOverMapPass> {
  void runOnOperation() override {
    for (stablehlo::MapOp op : opsWithin<stablehlo::MapOp>(getOperation()))
      if (op.getType().hasStaticShape())
        loopOver(op);
  }
};

} // namespace
} // namespace tessera
