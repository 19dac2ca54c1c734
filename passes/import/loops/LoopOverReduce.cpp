// A reduction whose computation has loops, or arrays of several elements, takes one element of each
// result after the other: kernels compute with single numbers only. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/import/computations/ElementComputations.h"
#include "passes/import/loops/CountedLoop.h"

namespace tessera {
#define GEN_PASS_DEF_LOOPOVERREDUCE
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::import;

namespace {

bool isStatic(Type type) { return cast<RankedTensorType>(type).hasStaticShape(); }

bool needsLoop(stablehlo::ReduceOp op) {
  if (!llvm::all_of(op->getOperandTypes(), isStatic))
    return false;
  return op.getBody()
      .walk([](Operation *inner) {
        return exceedsElements(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// The computation's result number `index` for all elements of `operands` at once.
Value mapped(OpBuilder &b, stablehlo::ReduceOp op, ValueRange operands, unsigned index) {
  auto map = stablehlo::MapOp::create(b, op.getLoc(), operands[index].getType(), operands,
                                      ArrayRef<int64_t>{0});
  IRMapping mapping;
  op.getBody().cloneInto(&map.getComputation(), mapping);
  Operation *terminator = map.getComputation().front().getTerminator();
  terminator->setOperands(Value(terminator->getOperand(index)));
  return map.getResult();
}

void loopOver(stablehlo::ReduceOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  SmallVector<int64_t> order(op.getDimensions());
  llvm::sort(order);
  int64_t trips = 1, width = 1;
  for (int64_t dimension : order)
    trips *= type.getDimSize(dimension);
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (!llvm::is_contained(op.getDimensions(), dimension)) {
      order.push_back(dimension);
      width *= type.getDimSize(dimension);
    }
  SmallVector<Value> rows, carried;
  for (auto [input, init, result] :
       llvm::zip_equal(op.getInputs(), op.getInitValues(), op.getResults())) {
    auto element = cast<RankedTensorType>(result.getType()).getElementType();
    Value turned = stablehlo::TransposeOp::create(b, loc, input, order);
    rows.push_back(stablehlo::converted(b, loc, reshape(b, loc, turned, {trips, width}), element));
    carried.push_back(stablehlo::BroadcastInDimOp::create(
        b, loc, RankedTensorType::get({width}, element),
        stablehlo::converted(b, loc, init, element), ArrayRef<int64_t>{}));
  }
  if (trips > 0 && width > 0) {
    stablehlo::WhileOp loop = countedLoop(b, loc, carried, trips);
    Block *body = &loop.getBody().front();
    OpBuilder inside = OpBuilder::atBlockEnd(body);
    Value counter = body->getArgument(0), zero = scalar(inside, loc, 0);
    SmallVector<Value> operands(body->getArguments().drop_front());
    for (Value row : rows) {
      Value slice = stablehlo::DynamicSliceOp::create(inside, loc, row, ValueRange{counter, zero},
                                                      ArrayRef<int64_t>{1, width});
      operands.push_back(reshape(inside, loc, slice, {width}));
    }
    SmallVector<Value> next{stablehlo::AddOp::create(inside, loc, counter, scalar(inside, loc, 1))};
    for (unsigned i = 0; i < rows.size(); ++i)
      next.push_back(mapped(inside, op, operands, i));
    stablehlo::ReturnOp::create(inside, loc, next);
    carried.assign(loop->getResults().begin() + 1, loop->getResults().end());
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Value value = reshape(b, loc, carried[i], cast<RankedTensorType>(result.getType()).getShape());
    sdy::keepSharding(result, value);
    result.replaceAllUsesWith(value);
  }
  op.erase();
}

struct LoopOverReducePass : impl::LoopOverReduceBase<LoopOverReducePass> {
  void runOnOperation() override {
    // Outer ones first: what their computations hold is copied. A round for each depth.
    for (SmallVector<stablehlo::ReduceOp> found;; found.clear()) {
      getOperation().walk<WalkOrder::PreOrder>([&](stablehlo::ReduceOp op) {
        if (!needsLoop(op))
          return WalkResult::advance();
        found.push_back(op);
        return WalkResult::skip();
      });
      if (found.empty())
        return;
      llvm::for_each(found, loopOver);
    }
  }
};

} // namespace
} // namespace tessera
