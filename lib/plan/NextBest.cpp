#include "lib/plan/NextBest.h"

#include "lib/plan/Memory.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>

namespace tessera::plan {

using sharding::TensorSharding;

llvm::SmallVector<int64_t, 4> partsOf(const TensorSharding &sharding) {
  llvm::SmallVector<int64_t, 4> parts;
  for (const sharding::DimSharding &dim : sharding.dims)
    parts.push_back(sharding::shardCount(dim.axes));
  return parts;
}

static constexpr int64_t kMostRounds = 2, kMostEntries = 10'000'000; // of matrices, in all rounds
static constexpr double kProven = 5e-3;                              // a proof that is good enough
static constexpr double kAsLong = 1e-3;                              // of a step

// As the plan that was priced last reads them: the sum of the graph is then what that takes, and below
// what any other does.
static SharedCopies copiesOf(AssignmentPrices &prices) {
  SharedCopies copies(prices.getTables());
  copies.share(prices.getUses());
  return copies;
}

NextBests::NextBests(AssignmentPrices &prices, const Assignment &planned, const Options &options,
                     size_t decisions)
    : prices(prices), planned(planned), reference(planned), seconds(prices.seconds(planned)),
      copies(copiesOf(prices)), problem(prices.getTables(), copies) {
  if (options.memory)
    problem.addHolds();
  // What is compiled may fit where the search counts more than it takes.
  if (options.memory)
    limits.capacity =
        std::max(options.memory, int64_t(std::ceil(peakBytes(prices.getProgram(), planned))));
  limits.gap = 1e-3;
  limits.effort = options.effort;
  rounds = std::min<int64_t>(kMostRounds, kMostEntries / (solver::entriesOf(problem.graph) + 1) /
                                              int64_t(decisions + 1));
  for (size_t shares = decisions; shares > 1 && limits.effort > 1; shares /= 4)
    --limits.effort; // each is a fourth of the steps
  findReference();
}

// A plan that was chosen as it is compiled may not be the least by the search's count; what its
// decisions are worth is told by the plan that is.
void NextBests::findReference() {
  Found best{planned, seconds, false};
  solve({}, [](int32_t, const TensorSharding &) { return false; }, best);
  if (best.seconds < seconds * (1 - kAsLong)) {
    reference = std::move(best.values);
    seconds = best.seconds;
  }
}

std::optional<NextBest> NextBests::of(llvm::ArrayRef<int32_t> values) {
  constexpr size_t kMostAsLong = 3;
  Excluded excluded;
  for (int32_t v : values)
    excluded.insert(partsOf(planned[v]));
  NextBest found;
  found.withSeconds = seconds;
  found.with = reference;
  bool isAsPlanned =
      llvm::all_of(values, [&](int32_t v) { return partsOf(reference[v]) == partsOf(planned[v]); });
  if (!isAsPlanned) { // the least count has it otherwise
    std::optional<Found> with = bestWithout(values, [&](int32_t v, const TensorSharding &sharding) {
      return partsOf(sharding) != partsOf(planned[v]);
    });
    if (with && !with->values.empty()) {
      found.with = std::move(with->values);
      found.withSeconds = with->seconds;
    }
  }
  while (true) {
    std::optional<Found> next = bestWithout(values, [&](int32_t, const TensorSharding &sharding) {
      return excluded.contains(partsOf(sharding));
    });
    if (!next)
      return found.asLong.empty() ? std::nullopt : std::optional(std::move(found));
    if (!next->values.empty() &&
        std::abs(next->seconds - found.withSeconds) <= found.withSeconds * kAsLong &&
        found.asLong.size() < kMostAsLong) {
      found.asLong.push_back(next->values[values.front()]);
      for (int32_t v : values)
        excluded.insert(partsOf(next->values[v]));
      continue;
    }
    found.values = std::move(next->values);
    found.seconds = next->seconds;
    found.isBest = next->isProven;
    return found;
  }
}

std::optional<NextBests::Found> NextBests::bestWithout(llvm::ArrayRef<int32_t> values,
                                                       IsOut isOut) {
  Costs before;
  bool possible = leaveOut(values, isOut, before);
  restore(before);
  if (!possible)
    return std::nullopt;
  Found found;
  solve(values, isOut, found);
  return found;
}

// False where some value has no candidate left.
bool NextBests::leaveOut(llvm::ArrayRef<int32_t> values, IsOut isOut, Costs &before) {
  bool possible = true;
  for (int32_t v : values) {
    int32_t vertex = problem.vertexOf(v);
    if (vertex < 0 || before.contains(vertex))
      continue;
    std::vector<double> &costs = problem.graph.costs[vertex];
    before[vertex] = costs;
    for (auto [cost, sharding] : llvm::zip_equal(costs, problem.shardingsOf(v)))
      if (isOut(v, sharding))
        cost = solver::forbidden;
    possible &= llvm::any_of(costs, [](double cost) { return cost < solver::forbidden; });
  }
  return possible && !before.empty();
}

void NextBests::restore(const Costs &before) {
  for (const auto &[vertex, costs] : before)
    problem.graph.costs[vertex] = costs;
}

// As the search for the plan does it (Search.cpp): who used copies and paid too little for them pays
// more in the next round, until what is found is proven.
void NextBests::solve(llvm::ArrayRef<int32_t> values, IsOut isOut, Found &best) {
  double bound = 0, stride = 1;
  solver::Options options = limits;
  for (int64_t round = 0;; ++round) {
    Costs before;
    leaveOut(values, isOut, before);
    solver::Solution solution = solver::solve(problem.graph, options);
    restore(before);
    if (solution.choices.empty() || solution.cost >= solver::forbidden) {
      best.isProven = best.values.empty() && solution.status == solver::Status::infeasible;
      return;
    }
    Assignment solved = problem.decode(solution.choices);
    double time = prices.seconds(solved);
    if (best.values.empty() || time < best.seconds) {
      best.values = std::move(solved);
      best.seconds = time;
    }
    stride *= round == 0 ? 1 : solution.lowerBound > bound ? 1.2 : 0.6;
    bound = std::max(bound, solution.lowerBound);
    best.isProven = best.seconds - bound <= kProven * best.seconds;
    Uses used = problem.uses(solution.choices);
    double missing = std::min(best.seconds, solution.cost + copies.unpaid(used)) - solution.cost;
    if (best.isProven || round >= rounds || missing <= limits.gap * solution.cost)
      return;
    copies.shift(used, stride * missing);
    problem.build();
    options.effort = 1;
  }
}

} // namespace tessera::plan
