#include "lib/solver/Solve.h"

#include "lib/solver/Tree.h"

#include <algorithm>
#include <cmath>

namespace tessera::solver {

namespace {

constexpr double rounding = 1e-9;

Problem problemOf(const Graph &graph, int64_t capacity, Matrices &matrices) {
  Problem problem;
  problem.costs = graph.costs;
  std::vector<int32_t> ids;
  for (const Matrix &matrix : graph.matrices)
    ids.push_back(matrices.add(matrix));
  for (const Edge &edge : graph.edges) {
    int32_t id = matrices.scaled(ids[edge.matrix], edge.factor);
    problem.links.push_back({edge.from, edge.to, id, matrices.transposed(id)});
  }
  if (capacity > 0)
    setHolds(problem, graph.holds, capacity);
  return problem;
}

// Without a capacity, or choices within it: those of the least peak that a few searches find, each
// for less than the last, and what none can be below.
void findLeastPeak(Graph graph, const Options &options, Solution &solution) {
  for (std::vector<double> &costs : graph.costs)
    for (double &cost : costs)
      cost = cost == forbidden ? forbidden : 0;
  for (Matrix &matrix : graph.matrices)
    for (double &cost : matrix.costs)
      cost = cost == forbidden ? forbidden : 0;
  int64_t least = 0, most = 0;
  auto search = [&](int64_t capacity) {
    Matrices matrices;
    Problem problem = problemOf(graph, capacity, matrices);
    Tree tree(matrices, {.steps = 10'000'000, .gap = rounding, .stop = options.stop});
    bool none = tree.explore(problem) == forbidden;
    if (!tree.choices().empty()) {
      solution.choices = tree.choices();
      most = peakOf(graph, tree.choices());
      return true;
    }
    if (none)
      solution.peakBound = std::max(solution.peakBound, capacity + 1);
    least = capacity + 1;
    return false;
  };
  if (!search(0))
    return;
  least = std::max<int64_t>(solution.peakBound, 1);
  for (int round = 0; round < 24 && least < most && !(options.stop && options.stop()); ++round)
    search(least + (most - 1 - least) / 2);
}

} // namespace

double gapOf(const Solution &solution) {
  if (solution.cost == forbidden)
    return 1;
  double gap = solution.cost - solution.lowerBound;
  return gap <= 0 || solution.cost == 0 ? 0 : gap / std::abs(solution.cost);
}

Solution solve(const Graph &graph, const Options &options) {
  Matrices matrices;
  Problem problem = problemOf(graph, options.capacity, matrices);
  int effort = std::clamp(options.effort, 1, 9);
  Tree tree(matrices, {.steps = int64_t(3'000'000) << (2 * effort),
                       .rounds = int64_t(5) << effort,
                       .gap = std::max(options.gap, rounding),
                       .stop = options.stop});
  if (!options.start.empty() &&
      (options.capacity <= 0 || peakOf(graph, options.start) <= options.capacity))
    tree.offer(options.start, costOf(graph, options.start));
  double bound = tree.explore(problem);

  Solution solution;
  solution.choices = tree.choices();
  if (solution.choices.empty()) {
    solution.cost = forbidden;
    solution.status = bound == forbidden ? Status::infeasible : Status::unknown;
    if (bound == forbidden && options.capacity > 0)
      solution.peakBound = options.capacity + 1;
    findLeastPeak(graph, options, solution);
  } else {
    solution.cost = costOf(graph, solution.choices);
  }
  solution.lowerBound = std::min(bound, solution.cost);
  if (!solution.choices.empty())
    solution.peak = peakOf(graph, solution.choices);
  if (solution.cost < forbidden)
    solution.status = gapOf(solution) <= rounding ? Status::optimal : Status::feasible;
  return solution;
}

} // namespace tessera::solver
