#include "lib/plan/NextBest.h"

#include "lib/plan/Memory.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace tessera::plan {

using sharding::TensorSharding;

llvm::SmallVector<int64_t, 4> partsOf(const TensorSharding &sharding) {
  llvm::SmallVector<int64_t, 4> parts;
  for (const sharding::DimSharding &dim : sharding.dims)
    parts.push_back(sharding::shardCount(dim.axes));
  return parts;
}

NextBests::NextBests(AssignmentPrices &prices, const Assignment &planned, const Options &options,
                     size_t decisions)
    : prices(prices), planned(planned), seconds(prices.seconds(planned)),
      copies(prices.getTables()), problem(prices.getTables(), copies) {
  if (options.memory)
    problem.addHolds();
  limits.capacity = options.memory;
  limits.gap = 1e-3;
  limits.effort = options.effort;
  for (size_t shares = decisions; shares > 1 && limits.effort > 1; shares /= 4)
    --limits.effort; // each is a fourth of the steps
}

std::optional<NextBest> NextBests::of(llvm::ArrayRef<int32_t> values) {
  constexpr size_t kMostAsLong = 3;
  constexpr double kAsLong = 1e-3; // of a step
  Excluded excluded;
  for (int32_t v : values)
    excluded.insert(partsOf(planned[v]));
  NextBest found;
  while (true) {
    std::optional<NextBest> next = without(values, excluded);
    if (next && !next->values.empty() && next->seconds <= seconds * (1 + kAsLong) &&
        found.asLong.size() < kMostAsLong) {
      found.asLong.push_back(next->values[values.front()]);
      for (int32_t v : values)
        excluded.insert(partsOf(next->values[v]));
      continue;
    }
    if (!next)
      return found.asLong.empty() ? std::nullopt : std::optional(std::move(found));
    next->asLong = std::move(found.asLong);
    return next;
  }
}

std::optional<NextBest> NextBests::without(llvm::ArrayRef<int32_t> values,
                                           const Excluded &excluded) {
  solver::Graph &graph = problem.graph;
  std::map<int32_t, std::vector<double>> before; // costs, by vertex
  bool possible = false;
  for (int32_t v : values) {
    int32_t vertex = problem.vertexOf(v);
    if (vertex < 0 || !before.try_emplace(vertex, graph.costs[vertex]).second)
      continue;
    for (auto [cost, sharding] : llvm::zip_equal(graph.costs[vertex], problem.shardingsOf(v)))
      if (excluded.contains(partsOf(sharding)))
        cost = solver::forbidden;
    bool isLeft =
        llvm::any_of(graph.costs[vertex], [](double cost) { return cost < solver::forbidden; });
    possible = (possible || before.size() == 1) && isLeft;
  }
  std::optional<NextBest> found;
  if (possible) {
    found = solved();
    considerAlone(values, excluded, *found);
  }
  for (auto &[vertex, costs] : before)
    graph.costs[vertex] = std::move(costs);
  return found;
}

NextBest NextBests::solved() {
  solver::Solution solution = solver::solve(problem.graph, limits);
  NextBest found;
  if (solution.cost < solver::forbidden) {
    found.values = problem.decode(solution.choices);
    found.seconds = prices.seconds(found.values);
    found.isBest = gapOf(solution) <= 2 * limits.gap;
  } else {
    found.isBest = solution.status == solver::Status::infeasible;
  }
  return found;
}

void NextBests::considerAlone(llvm::ArrayRef<int32_t> values, const Excluded &excluded,
                              NextBest &best) {
  const Program &program = prices.getProgram();
  std::set<int32_t> vertices;
  for (int32_t v : values)
    vertices.insert(problem.vertexOf(v));
  std::vector<int32_t> changing; // with what lies alike
  for (size_t v = 0; v < planned.size(); ++v)
    if (int32_t vertex = problem.vertexOf(int32_t(v)); vertex >= 0 && vertices.contains(vertex))
      changing.push_back(int32_t(v));
  Assignment changed = planned;
  for (const TensorSharding &to : problem.shardingsOf(values.front())) {
    auto canLieSo = [&](int32_t v) {
      return llvm::any_of(problem.shardingsOf(v),
                          [&](const TensorSharding &candidate) { return sameAxes(candidate, to); });
    };
    if (excluded.contains(partsOf(to)) || !llvm::all_of(values, canLieSo))
      continue;
    if ((left -= int64_t(program.graph.ops.size())) < 0)
      return;
    for (int32_t v : changing)
      changed[v] = to;
    double seconds = prices.seconds(changed);
    bool fits = limits.capacity == 0 || peakBytes(program, changed) <= double(limits.capacity);
    if (fits && (best.values.empty() || seconds < best.seconds)) {
      best.values = changed;
      best.seconds = seconds;
      best.isBest = false;
    }
  }
}

} // namespace tessera::plan
