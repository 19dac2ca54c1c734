#include "lib/sharding/ConflictCost.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::sharding {

ConflictCost::ConflictCost(const PropagationGraph &graph, llvm::ArrayRef<const Mesh *> meshes,
                           const cost::Topology &topology)
    : graph(graph) {
  for (const Mesh *mesh : meshes)
    planners.push_back(std::make_unique<ReshardPlanner>(*mesh, topology));
}

double ConflictCost::seconds(int32_t index, int32_t mesh, llvm::ArrayRef<TensorSharding> tensors) {
  const PropagatedOp &op = graph.ops[index];
  PlacedOp placed;
  placed.op.rule = graph.rules[op.rule];
  placed.flops = op.flops;
  size_t t = 0;
  double bytes = 0;
  auto place = [&](int32_t v, std::vector<Shape> &shapes, std::vector<PlacedTensor> &list) {
    const PropagatedValue &value = graph.values[v];
    shapes.push_back(value.shape);
    PlacedTensor &tensor = list.emplace_back();
    tensor.sharding = withoutUnitAxes(tensors[t++]);
    tensor.elementBytes = value.elementBytes;
    tensor.free = value.free;
    double held = value.free ? 0 : double(value.elementBytes);
    for (int64_t tile : localShape(canonicalLayout(value.shape, tensor.sharding)))
      held *= double(tile);
    bytes += held;
  };
  for (int32_t v : op.operands)
    place(v, placed.op.operands, placed.operands);
  for (int32_t v : op.results)
    place(v, placed.op.results, placed.results);
  ReshardPlanner &planner = *planners[mesh];
  return chooseFactorAxes(placed, planner).seconds +
         cost::computeSeconds(planner.getTopology(), planner.getMesh(), 0, bytes);
}

} // namespace tessera::sharding
