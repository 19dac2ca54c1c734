#include "passes/reshard/PlacedOps.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"

namespace tessera {

using namespace mlir;
using sharding::TensorSharding;

sharding::PlacedOp placedOp(Operation *op, sharding::FactorRule rule,
                            const ValueShardings &shardings) {
  sharding::PlacedOp placed;
  placed.flops = flopsOf(op);
  placed.op.rule = std::move(rule);
  for (Value operand : op->getOperands()) {
    placed.op.operands.emplace_back(shapeOf(operand));
    sharding::PlacedTensor &tensor = placed.operands.emplace_back();
    tensor.sharding = shardings.of(operand);
    tensor.elementBytes = elementBytes(operand);
    tensor.free = isFree(operand);
    tensor.reduction = shardings.reductionOf(operand);
    tensor.copies.assign(shardings.copiesOf(operand).begin(), shardings.copiesOf(operand).end());
    Operation *around =
        operand.getParentBlock()->getParentOp(); // it is moved there, once for all rounds inside
    tensor.share = 1.0 / double(std::max<int64_t>(1, tripsAround(op, around)));
  }
  for (Value result : op->getResults()) {
    placed.op.results.emplace_back(shapeOf(result));
    sharding::PlacedTensor &tensor = placed.results.emplace_back();
    tensor.sharding = shardings.of(result);
    tensor.elementBytes = elementBytes(result);
  }
  return placed;
}

MovedBytes movedBytes(ArrayRef<int64_t> shape, int64_t elementBytes, const TensorSharding &from,
                      const TensorSharding &to, sharding::ReshardPlanner &planner) {
  const sharding::ReshardPlan &plan =
      planner.plan(shape, elementBytes, sharding::canonicalLayout(shape, from),
                   sharding::canonicalLayout(shape, to));
  return {plan.seconds, plan.wireBytes};
}

CostByRule cheapestByRule(Operation *op, const ValueShardings &shardings,
                          sharding::ReshardPlanner &planner) {
  const sharding::PlacedOp placed = placedOp(op, *sdy::getRule(op), shardings);
  sharding::FactorChoice choice = sharding::chooseFactorAxes(placed, planner);
  CostByRule cost;
  for (size_t i = 0; i < placed.operands.size(); ++i)
    if (!placed.operands[i].free)
      cost += movedBytes(placed.op.operands[i], placed.operands[i].elementBytes,
                         placed.operands[i].sharding, choice.axes.operandSharding(i), planner);
  for (size_t i = 0; i < placed.results.size(); ++i) {
    TensorSharding made = choice.axes.resultSharding(i);
    cost += movedBytes(placed.op.results[i], placed.results[i].elementBytes, made,
                       placed.results[i].sharding, planner);
    double bytes = double(placed.results[i].elementBytes);
    for (int64_t tile : sharding::localShape(sharding::canonicalLayout(placed.op.results[i], made)))
      bytes *= double(tile);
    cost.resultBytes += bytes;
  }
  cost.seconds = choice.seconds;
  return cost;
}

} // namespace tessera
