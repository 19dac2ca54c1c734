#include "lib/plan/MeshTables.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace tessera::plan {

using sharding::PropagatedValue;

MeshTables::MeshTables(const Program &program, const sharding::Mesh &mesh,
                       const cost::Topology &topology)
    : program(program), planner(mesh, topology), lists(mesh), prices(lists, planner, weights),
      ops(program, lists, prices, planner, weights), listOf(program.graph.values.size(), -1),
      vertexOf(program.graph.values.size(), -1), ofOp(program.graph.ops.size(), nullptr) {
  uniteValues();
}

void MeshTables::setWeights(const Weights &now) {
  weights = now;
  prices.forgetMatrices();
  ops.forgetTables();
  ofOp.assign(program.graph.ops.size(), nullptr);
}

void MeshTables::uniteValues() {
  const std::vector<PropagatedValue> &values = program.graph.values;
  const sharding::Mesh &mesh = planner.getMesh();
  llvm::EquivalenceClasses<int32_t> alike;
  llvm::DenseMap<int32_t, int32_t> ofGroup;
  for (size_t v = 0; v < values.size(); ++v) {
    alike.insert(int32_t(v));
    if (values[v].group >= 0)
      alike.unionSets(ofGroup.try_emplace(values[v].group, int32_t(v)).first->second, int32_t(v));
  }
  auto isAnnotated = [&](int32_t v) { return values[v].mesh >= 0; };
  for (const State &state : statesOf(program))
    if (!(isAnnotated(state.taken) && isAnnotated(state.given))) {
      alike.unionSets(state.taken, state.given);
      states.push_back(state);
    }
  for (const auto &each : alike) {
    if (!each->isLeader())
      continue;
    LayoutQuery query;
    bool free = true;
    for (int32_t v : alike.members(*each)) {
      const ValueFacts &facts = program.values[v];
      query.shape = values[v].shape;
      if (isAnnotated(v) && query.annotation.dims.empty())
        query.annotation = values[v].sharding;
      query.wholeAxes |= facts.argument >= 0 || facts.result >= 0;
      for (const std::string &name : facts.manualAxes)
        if (int32_t axis = mesh.axisIndex(name); axis >= 0)
          query.unusable |= uint64_t{1} << axis;
      free &= values[v].free;
    }
    int32_t list = lists.candidates(query);
    int32_t vertex = free ? -1 : int32_t(vertexLists.size());
    if (!free)
      vertexLists.push_back(list);
    for (int32_t v : alike.members(*each)) {
      listOf[v] = list;
      vertexOf[v] = vertex;
    }
  }
}

} // namespace tessera::plan
