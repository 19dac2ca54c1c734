#include "RandomPlans.h"

#include "lib/plan/Layouts.h"

#include <map>

namespace tessera::plan {

using sharding::TensorSharding;

namespace {

// The standard says of an engine what it gives, of distributions it does not.
bool happens(std::mt19937_64 &random, double chance) {
  return double(random() >> 11) < chance * double(uint64_t{1} << 53);
}

TensorSharding closed(TensorSharding sharding) {
  for (sharding::DimSharding &dim : sharding.dims)
    dim = {std::move(dim.axes), /*closed=*/true, std::nullopt};
  sharding.replicated.clear();
  return sharding;
}

} // namespace

Assignment randomPlan(const Program &program, const sharding::Mesh &mesh, std::mt19937_64 &random,
                      double split, double changed) {
  sharding::PropagationGraph graph = program.graph;
  LayoutLists lists(mesh);
  auto draw = [&](size_t v) {
    const ValueFacts &facts = program.values[v];
    LayoutQuery query;
    query.shape = graph.values[v].shape;
    query.wholeAxes = facts.argument >= 0 || facts.result >= 0;
    const std::vector<TensorSharding> &list = lists[lists.candidates(query)];
    return closed(list[random() % list.size()]);
  };
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (program.values[v].argument >= 0 && happens(random, split)) {
      graph.values[v].sharding = draw(v);
      graph.values[v].mesh = 0;
    }
  sharding::propagate(graph);
  Assignment assignment;
  std::map<int32_t, size_t> first; // of each group
  for (size_t v = 0; v < graph.values.size(); ++v) {
    assignment.push_back(closed(graph.values[v].sharding));
    if (!graph.values[v].free && happens(random, changed))
      assignment[v] = draw(v);
    if (int32_t group = graph.values[v].group; group >= 0)
      assignment[v] = assignment[first.try_emplace(group, v).first->second];
  }
  return assignment;
}

} // namespace tessera::plan
