// Moves what a broadcast repeats instead of what it makes of it, where that sends less. Passes.td shows an example.
#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/reshard/Passes.h"
#include "passes/reshard/PlacedOps.h"

namespace tessera {

#define GEN_PASS_DEF_RESHARDBEFOREBROADCASTS
#include "passes/reshard/Passes.h.inc"

namespace {

using namespace mlir;
using sharding::TensorSharding;

// Where the operand lies when the result does as `result`; none where that would cut a dimension of one row, along
// which no rule has axes.
std::optional<TensorSharding> operandOf(stablehlo::BroadcastInDimOp op,
                                        const TensorSharding &result) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  for (auto [rows, dim] : llvm::zip_equal(to, result.dims))
    if (rows == 1 && !dim.axes.empty())
      return {};
  TensorSharding operand = TensorSharding::replicatedOver(from.size());
  for (auto [i, d] : llvm::enumerate(op.getBroadcastDimensions()))
    if (from[i] == to[d])
      operand.dims[i].axes = result.dims[d].axes;
  return operand;
}

class Mover {
public:
  Mover(ValueShardings &shardings, sharding::ReshardPlanner &planner)
      : shardings(shardings), planner(planner) {}

  void visit(sdy::ReshardOp reshard) {
    auto broadcast = reshard.getInput().getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!broadcast)
      return;
    TensorSharding from = shardings.of(broadcast.getResult()),
                   to = shardings.of(reshard.getResult());
    if (!from.unreduced.empty() || !to.unreduced.empty())
      return;
    Value small = broadcast.getOperand();
    std::optional<TensorSharding> before = operandOf(broadcast, to);
    if (!before || !shardings.of(small).unreduced.empty())
      return;
    MovedBytes made = costOf(reshard.getInput(), from, to),
               read = costOf(small, shardings.of(small), *before);
    if (read.wireBytes >= made.wireBytes || read.seconds > made.seconds)
      return;
    OpBuilder b(reshard);
    Operation *copy = b.clone(*broadcast);
    copy->setOperand(0, shardings.moved(small, *before, copy));
    shardings.set(copy->getResult(0), to);
    reshard.getResult().replaceAllUsesWith(copy->getResult(0));
    reshard.erase();
    if (broadcast->use_empty())
      broadcast.erase();
  }

private:
  MovedBytes costOf(Value value, const TensorSharding &from, const TensorSharding &to) {
    return movedBytes(shapeOf(value), elementBytes(value), from, to, planner);
  }

  ValueShardings &shardings;
  sharding::ReshardPlanner &planner;
};

struct ReshardBeforeBroadcasts : impl::ReshardBeforeBroadcastsBase<ReshardBeforeBroadcasts> {
  void runOnOperation() override {
    forEachBody(getOperation(),
                [](Block &body, ValueShardings &shardings, sharding::ReshardPlanner &planner) {
                  SmallVector<sdy::ReshardOp> reshards;
                  body.getParentOp()->walk([&](sdy::ReshardOp op) { reshards.push_back(op); });
                  Mover mover(shardings, planner);
                  for (sdy::ReshardOp reshard : reshards)
                    mover.visit(reshard);
                });
  }
};

} // namespace
} // namespace tessera
