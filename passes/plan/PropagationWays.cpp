#include "passes/plan/PropagationWays.h"

#include "lib/sharding/ContentKey.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace tessera {

using namespace mlir;
using sharding::PropagationGraph;

PropagationWays::PropagationWays(const plan::Program &program, func::FuncOp main,
                                 const sharding::Mesh &mesh, const cost::Topology &topology)
    : conflictCost(program.graph, {&mesh}, topology) {
  llvm::MapVector<Type, Signature> byType;
  for (auto [value, facts] : llvm::enumerate(program.values)) {
    if (facts.argument >= 0)
      byType[main.getArgumentTypes()[facts.argument]].arguments.push_back(int32_t(value));
    if (facts.result >= 0)
      byType[main.getResultTypes()[facts.result]].results.push_back(int32_t(value));
  }
  for (auto &[type, signature] : byType)
    if (!signature.arguments.empty() && !signature.results.empty())
      state.push_back(std::move(signature));
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

// Equal for values of one shape that lie alike.
static std::string axesOf(const sharding::PropagatedValue &value) {
  std::string key;
  for (const sharding::DimSharding &dim : value.sharding.dims)
    sharding::appendKey(key, dim.axes);
  return key;
}

// As ModuleGraph::postponeState, of annotations that stand in the graph.
bool PropagationWays::postponeState(PropagationGraph &graph) const {
  auto isSharded = [](const sharding::PropagatedValue &value) {
    return llvm::any_of(value.sharding.dims,
                        [](const sharding::DimSharding &dim) { return !dim.axes.empty(); });
  };
  bool any = false;
  for (const Signature &each : state) {
    llvm::StringMap<SmallVector<int32_t>> given; // annotated, by how they lie
    for (int32_t result : each.results)
      if (graph.values[result].mesh >= 0)
        given[axesOf(graph.values[result])].push_back(result);
    for (int32_t argument : each.arguments) {
      sharding::PropagatedValue &taken = graph.values[argument];
      if (taken.mesh < 0 || taken.group >= 0 || !isSharded(taken))
        continue;
      auto alike = given.find(axesOf(taken));
      if (alike == given.end())
        continue;
      taken.last = any = true;
      for (int32_t result : std::exchange(alike->second, {}))
        graph.values[result].last = true;
    }
  }
  return any && llvm::any_of(graph.values, [&](const sharding::PropagatedValue &value) {
           return !value.last && isSharded(value);
         });
}

} // namespace tessera
