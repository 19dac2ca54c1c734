// A scan runs its body once for each place of a dimension, in a counted loop.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/import/loops/CountedLoop.h"

namespace tessera {
#define GEN_PASS_DEF_LOOPOVERSCAN
#include "passes/import/Passes.h.inc"

using namespace mlir;
using namespace tessera::import;

namespace {

// The number of places; nothing names it when there are no inputs, no outputs and no scan_dim_size.
int64_t tripsOf(chlo::ScanOp op) {
  for (ValueRange values : {ValueRange(op.getInputs()), ValueRange(op.getOutputs())})
    if (!values.empty())
      return cast<RankedTensorType>(values.front().getType()).getDimSize(op.getDimension());
  return op.getScanDimSize().value_or(0);
}

void loopOver(chlo::ScanOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  int64_t trips = tripsOf(op), dimension = op.getDimension();
  size_t inputs = op.getInputs().size(), outputs = op.getOutputs().size();
  SmallVector<Value> carried(op.getInits());
  for (Value output : op.getOutputs()) // all of it is written
    carried.push_back(stablehlo::zeros(b, loc, cast<RankedTensorType>(output.getType())));
  if (trips == 0) {
    for (auto [result, value] : llvm::zip(op.getOutputs(), ArrayRef(carried).take_back(outputs)))
      result.replaceAllUsesWith(value);
    for (auto [result, value] : llvm::zip(op.getCarries(), op.getInits()))
      result.replaceAllUsesWith(value);
    return op.erase();
  }
  stablehlo::WhileOp loop = countedLoop(b, loc, carried, trips);

  Block *body = &loop.getBody().front();
  OpBuilder inside = OpBuilder::atBlockEnd(body);
  Value counter = body->getArgument(0), zero = scalar(inside, loc, 0), at = counter;
  if (op.getIsReverse())
    at = stablehlo::SubtractOp::create(inside, loc, scalar(inside, loc, trips - 1), counter);
  auto starts = [&](int64_t rank) {
    SmallVector<Value> indices(rank, zero);
    indices[dimension] = at;
    return indices;
  };
  Block &computation = op.getBody().front();
  IRMapping mapping;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dimension] = 1;
    Value slice =
        stablehlo::DynamicSliceOp::create(inside, loc, input, starts(type.getRank()), sizes);
    sizes.erase(sizes.begin() + dimension);
    mapping.map(computation.getArgument(i), reshape(inside, loc, slice, sizes));
  }
  for (size_t i = 0; i < op.getInits().size(); ++i)
    mapping.map(computation.getArgument(inputs + i), body->getArgument(1 + i));
  for (Operation &inner : computation.without_terminator())
    inside.clone(inner, mapping);
  SmallVector<Value> next{stablehlo::AddOp::create(inside, loc, counter, scalar(inside, loc, 1))};
  OperandRange returned = computation.getTerminator()->getOperands();
  for (Value carry : returned.drop_front(outputs))
    next.push_back(mapping.lookupOrDefault(carry));
  for (auto [i, output] : llvm::enumerate(returned.take_front(outputs))) {
    Value whole = body->getArgument(1 + op.getInits().size() + i);
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dimension] = 1;
    Value slice = reshape(inside, loc, mapping.lookupOrDefault(output), sizes);
    next.push_back(
        stablehlo::DynamicUpdateSliceOp::create(inside, loc, whole, slice, starts(type.getRank())));
  }
  stablehlo::ReturnOp::create(inside, loc, next);

  for (auto [i, carry] : llvm::enumerate(op.getCarries()))
    carry.replaceAllUsesWith(loop->getResult(1 + i));
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    output.replaceAllUsesWith(loop->getResult(1 + op.getInits().size() + i));
  op.erase();
}

struct LoopOverScanPass : impl::LoopOverScanBase<LoopOverScanPass> {
  void runOnOperation() override {
    SmallVector<chlo::ScanOp> scans;
    getOperation().walk<WalkOrder::PostOrder>([&](chlo::ScanOp op) { scans.push_back(op); });
    for (chlo::ScanOp op : scans)
      if (llvm::all_of(op->getResultTypes(),
                       [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); }))
        loopOver(op);
  }
};

} // namespace
} // namespace tessera
