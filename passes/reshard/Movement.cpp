#include "passes/reshard/Movement.h"

#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "passes/reshard/PlacedOps.h"

namespace tessera {

using namespace mlir;

const sharding::ReshardPlan &planOf(sdy::ReshardOp op, const ValueShardings &shardings,
                                    sharding::ReshardPlanner &planner) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  auto from = sharding::canonicalLayout(shape, shardings.of(op.getInput()));
  auto to = sharding::canonicalLayout(shape, shardings.of(op.getResult()));
  from.reduction = to.reduction = shardings.reductionOf(op.getInput());
  return planner.plan(shape, elementBytes(op.getInput()), from, to);
}

static StringRef nameOf(sharding::ReshardKind kind) {
  switch (kind) {
  case sharding::ReshardKind::AllGather:
    return "all-gather";
  case sharding::ReshardKind::Slice:
    return "slice";
  case sharding::ReshardKind::AllToAll:
    return "all-to-all";
  case sharding::ReshardKind::Permute:
    return "permute";
  case sharding::ReshardKind::AllReduce:
    return "all-reduce";
  case sharding::ReshardKind::ReduceScatter:
    return "reduce-scatter";
  case sharding::ReshardKind::Broadcast:
    return "broadcast";
  case sharding::ReshardKind::Retile:
    return "retile";
  case sharding::ReshardKind::View:
    return "view";
  case sharding::ReshardKind::Exchange:
    return "exchange";
  }
  return "";
}

std::string stepsText(const sharding::ReshardPlan &plan) {
  std::string text;
  for (const sharding::ReshardStep &step : plan.steps)
    if (step.kind != sharding::ReshardKind::View) // local
      text += (text.empty() ? "" : ", ") + nameOf(step.kind).str();
  return text;
}

Movement movementOf(ModuleOp module) {
  Movement all;
  sdy::MeshTable meshes(module);
  if (!meshes.main())
    return all;
  cost::Topology topology = topologyOf(module);
  sharding::ReshardPlanner planner(*meshes.main(), topology);
  ValueShardings shardings(*meshes.main(), module.getContext());
  module.walk([&](sdy::ReshardOp op) {
    const sharding::ReshardPlan &plan = planOf(op, shardings, planner);
    double trips = double(tripsAround(op));
    all.seconds += plan.seconds * trips;
    all.wireBytes += plan.wireBytes * trips;
  });
  module.walk([&](Operation *op) {
    double flops = flopsOf(op);
    std::optional<sharding::FactorRule> rule = flops > 0 ? sdy::getRule(op) : std::nullopt;
    if (!rule)
      return;
    sharding::PlacedOp placed = placedOp(op, std::move(*rule), shardings);
    sharding::FactorAxes axes(placed.op);
    for (auto [i, operand] : llvm::enumerate(placed.operands))
      if (!operand.free)
        axes.claimOperand(i, operand.sharding);
    for (auto [i, result] : llvm::enumerate(placed.results))
      axes.claimResult(i, result.sharding);
    all.computing +=
        cost::computeSeconds(topology, *meshes.main(), flops / double(axes.shards()), 0) *
        double(tripsAround(op));
  });
  return all;
}

} // namespace tessera
