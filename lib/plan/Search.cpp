#include "lib/plan/Search.h"

#include "lib/plan/Formulation.h"
#include "lib/plan/KnownPlans.h"

namespace tessera::plan {
namespace {

class Descent {
public:
  explicit Descent(const Formulation &problem)
      : problem(problem), edgesOf(problem.vertices.size()) {
    for (size_t e = 0; e < problem.edges.size(); ++e) {
      edgesOf[problem.edges[e].from].push_back(int32_t(e));
      edgesOf[problem.edges[e].to].push_back(int32_t(e));
    }
  }

  std::vector<int32_t> run(std::vector<int32_t> from) {
    choices = std::move(from);
    for (int round = 0; round < 50; ++round) {
      bool changed = false;
      for (size_t v = 0; v < choices.size(); ++v)
        changed |= improve(int32_t(v));
      for (size_t v = choices.size(); v-- > 0;)
        changed |= improve(int32_t(v));
      if (!changed)
        break;
    }
    return choices;
  }

private:
  bool improve(int32_t v) {
    std::vector<double> cost = problem.vertices[v].cost;
    for (int32_t e : edgesOf[v]) {
      const CostEdge &edge = problem.edges[e];
      const Matrix &matrix = problem.matrices[edge.matrix];
      for (size_t i = 0; i < cost.size(); ++i)
        cost[i] += edge.factor *
                   (edge.from == v ? matrix(i, choices[edge.to]) : matrix(choices[edge.from], i));
    }
    int32_t best = choices[v];
    for (size_t i = 0; i < cost.size(); ++i)
      if (cost[i] < cost[best] * (1 - 1e-12))
        best = int32_t(i);
    return std::exchange(choices[v], best) != best;
  }

  const Formulation &problem;
  std::vector<int32_t> choices;
  std::vector<std::vector<int32_t>> edgesOf;
};

} // namespace

// From each plan that people know downhill.
Plan planOnMesh(const Program &program, const sharding::Mesh &mesh, const cost::Topology &topology,
                const Options &) {
  sharding::ReshardPlanner planner(mesh, topology);
  Formulation problem(program, planner);
  Plan plan;
  auto consider = [&](const Assignment &start) {
    Assignment values = problem.decode(Descent(problem).run(problem.encode(start)));
    double seconds = assignmentSeconds(program, mesh, topology, values);
    if (plan.values.empty() || seconds < plan.seconds) {
      plan.values = std::move(values);
      plan.seconds = seconds;
    }
  };
  KnownPlans known(program);
  consider(known.annotated());
  for (const AxisRoles &roles : known.on(mesh))
    if (std::optional<Assignment> start = known.assignment(mesh, roles))
      consider(*start);
  return plan;
}

} // namespace tessera::plan
