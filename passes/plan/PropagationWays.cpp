#include "passes/plan/PropagationWays.h"

namespace tessera {

using namespace mlir;
using sharding::PropagationGraph;

PropagationWays::PropagationWays(const plan::Program &program, func::FuncOp main,
                                 const sharding::Mesh &mesh, const cost::Topology &topology)
    : conflictCost(program.graph, {&mesh}, topology) {
  DenseMap<Type, SmallVector<int32_t>> results;
  for (auto [value, facts] : llvm::enumerate(program.values))
    if (facts.result >= 0)
      results[main.getResultTypes()[facts.result]].push_back(int32_t(value));
  for (auto [value, facts] : llvm::enumerate(program.values))
    if (facts.argument >= 0)
      for (int32_t result : results.lookup(main.getArgumentTypes()[facts.argument]))
        state.push_back({int32_t(value), result});
  auto byTime = [this](PropagationGraph &graph) {
    graph.seconds = [this](int32_t op, int32_t, ArrayRef<sharding::TensorSharding> tensors) {
      return conflictCost.seconds(op, 0, tensors);
    };
    sharding::propagate(graph);
    graph.seconds = nullptr;
  };
  ways.push_back([](PropagationGraph &graph) { sharding::propagate(graph); });
  ways.push_back(byTime);
  if (!state.empty())
    ways.push_back([this, byTime](PropagationGraph &graph) {
      if (postponeState(graph))
        byTime(graph);
      else
        sharding::propagate(graph); // the first way again
    });
}

// As ModuleGraph::postponeState, of annotations that stand in the graph.
bool PropagationWays::postponeState(PropagationGraph &graph) const {
  auto isSharded = [](const sharding::PropagatedValue &value) {
    return llvm::any_of(value.sharding.dims,
                        [](const sharding::DimSharding &dim) { return !dim.axes.empty(); });
  };
  bool any = false;
  for (auto [argument, result] : state) {
    sharding::PropagatedValue &taken = graph.values[argument], &given = graph.values[result];
    if (taken.mesh < 0 || given.mesh < 0 || taken.group >= 0 || !isSharded(taken) ||
        !plan::liesAlike(taken.sharding, given.sharding))
      continue;
    taken.last = given.last = any = true;
  }
  return any && llvm::any_of(graph.values, [&](const sharding::PropagatedValue &value) {
           return !value.last && isSharded(value);
         });
}

} // namespace tessera
