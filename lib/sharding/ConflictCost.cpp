#include "lib/sharding/ConflictCost.h"

#include "lib/sharding/ContentKey.h"
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
  std::string key = keyOf(op, mesh, tensors);
  std::lock_guard lock(mutex);
  auto [it, isNew] = known.try_emplace(std::move(key));
  if (isNew)
    it->second = find(op, mesh, tensors);
  return it->second;
}

std::string ConflictCost::keyOf(const PropagatedOp &op, int32_t mesh,
                                llvm::ArrayRef<TensorSharding> tensors) const {
  std::string key;
  appendKey(key, op.rule);
  appendKey(key, op.flops);
  appendKey(key, mesh);
  size_t t = 0;
  for (const auto *side : {&op.operands, &op.results})
    for (int32_t v : *side) {
      const PropagatedValue &value = graph.values[v];
      appendKey(key, value.free);
      appendKey(key, value.elementBytes);
      for (auto [size, dim] : llvm::zip_equal(value.shape, tensors[t].dims)) {
        appendKey(key, size);
        appendKey(key, dim.axes);
      }
      appendKey(key, tensors[t++].unreduced);
    }
  return key;
}

double ConflictCost::find(const PropagatedOp &op, int32_t mesh,
                          llvm::ArrayRef<TensorSharding> tensors) {
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
