// Moves what a broadcast repeats instead of what it makes of it, where that sends less; also where what it makes is
// reshaped before it is moved. Passes.td shows an example.
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

// Where the operand of an op of one result lies when that does as `result`; none where the op's rule has no such
// result, as along a dimension of one row.
std::optional<TensorSharding> operandOf(Operation *op, const TensorSharding &result) {
  std::optional<sharding::FactorRule> rule = sdy::getRule(op);
  if (!rule)
    return {};
  sharding::RuledOp ruled{std::move(*rule), {}, {}};
  ruled.operands.emplace_back(shapeOf(op->getOperand(0)));
  ruled.results.emplace_back(shapeOf(op->getResult(0)));
  sharding::FactorAxes axes(ruled);
  axes.claimResult(0, result);
  if (!sharding::sameAxes(axes.resultSharding(0), result))
    return {};
  return axes.operandSharding(0);
}

class Mover {
public:
  Mover(ValueShardings &shardings, sharding::ReshardPlanner &planner)
      : shardings(shardings), planner(planner) {}

  void visit(sdy::ReshardOp reshard) {
    SmallVector<Link, 2> chain = cheapest(reshard);
    if (chain.empty())
      return;
    OpBuilder b(reshard);
    Value value;
    for (const Link &link : llvm::reverse(chain)) {
      Operation *copy = b.clone(*link.op);
      copy->setOperand(0, value ? value : shardings.moved(copy->getOperand(0), link.operand, copy));
      value = copy->getResult(0);
      shardings.set(value, link.result);
    }
    reshard.getResult().replaceAllUsesWith(value);
    reshard.erase();
    for (const Link &link : chain)
      if (link.op->use_empty())
        link.op->erase();
  }

private:
  // An op that is made again behind what is moved, and where its operand and result lie then.
  struct Link {
    Operation *op;
    TensorSharding operand, result;
  };

  // From what is moved to the broadcast whose operand costs least to move, by way of reshapes and other broadcasts;
  // none where the reshard itself does.
  SmallVector<Link, 2> cheapest(sdy::ReshardOp reshard) {
    Value value = reshard.getInput();
    TensorSharding at = shardings.of(reshard.getResult());
    if (!shardings.of(value).unreduced.empty() || !at.unreduced.empty())
      return {};
    SmallVector<Link, 2> chain;
    size_t best = 0;
    MovedBytes least = costOf(value, at);
    while (
        isa_and_present<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(value.getDefiningOp())) {
      Operation *op = value.getDefiningOp();
      value = op->getOperand(0);
      std::optional<TensorSharding> before = operandOf(op, at);
      if (!before || !shardings.of(value).unreduced.empty())
        break;
      chain.push_back({op, *before, at});
      at = *before;
      if (!isa<stablehlo::BroadcastInDimOp>(op))
        continue;
      MovedBytes cost = costOf(value, at);
      if (cost.wireBytes < least.wireBytes && cost.seconds <= least.seconds) {
        best = chain.size();
        least = cost;
      }
    }
    chain.truncate(best);
    return chain;
  }
  MovedBytes costOf(Value value, const TensorSharding &to) {
    return movedBytes(shapeOf(value), elementBytes(value), shardings.of(value), to, planner);
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
