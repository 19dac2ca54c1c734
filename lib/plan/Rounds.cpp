#include "lib/plan/Rounds.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::plan {

using sharding::TensorSharding;

namespace {

constexpr double kRounding = 1e-6;              // of sums in another order
constexpr double kClose = 1e-3;                 // each solution to the least of its graph
constexpr double kGained = 0.95;                // of the gap before: this one is less
constexpr int64_t kInVain = 2, kThorough = 8;   // rounds that gained nothing
constexpr double kLonger = 1.2, kShorter = 0.6; // the next step, if this one got somewhere

} // namespace

Rounds::Rounds(AssignmentPrices &prices, int64_t capacity)
    : prices(prices), capacity(capacity), copies(prices.getTables()) {}

double Rounds::consider(Assignment values, BestFound &best, double most) {
  double seconds = prices.seconds(values);
  bool isNoBetter = best.fits && seconds >= best.seconds; // whether it fits or not
  if (seconds > most || (!best.values.empty() && isNoBetter))
    return seconds;
  AssignmentPrices::Fitted fitted =
      prices.fitted(values, capacity ? double(capacity) : kImpossible);
  bool fits = capacity == 0 || fitted.bytes <= double(capacity);
  seconds += fits ? fitted.seconds : 0;
  bool isBetter = fits != best.fits ? fits : seconds < best.seconds;
  if (!best.values.empty() && !isBetter)
    return seconds;
  best.values = std::move(values);
  best.seconds = seconds;
  best.peakBytes = fitted.bytes;
  best.fits = fits;
  best.uses = prices.getUses();
  return seconds;
}

void Rounds::share(const Uses &uses) {
  copies.share(uses);
  if (problem) {
    build();
    return;
  }
  problem.emplace(prices.getTables(), copies);
  if (capacity)
    problem->addHolds(capacity);
}

void Rounds::build() {
  problem->build();
  for (auto &[vertex, some] : left)
    leaveOut(vertex, some);
}

void Rounds::leaveOut(int32_t vertex, Left &some) {
  std::vector<double> &costs = problem->graph.costs[vertex];
  some.costs = costs;
  for (auto [cost, isOut] : llvm::zip_equal(costs, some.isOut))
    cost = isOut ? solver::forbidden : cost;
}

bool Rounds::leaveOut(llvm::ArrayRef<int32_t> values, IsOut isOut) {
  bool possible = true;
  for (int32_t v : values) {
    int32_t vertex = problem->vertexOf(v);
    if (vertex < 0 || left.contains(vertex))
      continue;
    Left &some = left[vertex];
    for (const TensorSharding &sharding : problem->shardingsOf(v))
      some.isOut.push_back(isOut(v, sharding));
    leaveOut(vertex, some);
    possible &= llvm::any_of(problem->graph.costs[vertex],
                             [](double cost) { return cost < solver::forbidden; });
  }
  return possible && !left.empty();
}

void Rounds::allowAll() {
  for (auto &[vertex, some] : left)
    problem->graph.costs[vertex] = std::move(some.costs);
  left.clear();
}

// Raises the bound by messages, after which readers pay what they say; whether that is a proof.
bool Rounds::raise(std::optional<CopyAscent> &ascent, const RoundLimits &limits, BestFound &best) {
  constexpr int64_t kFew = 8, kMost = 100, // rounds of messages: the first few gain most
      kMostEntries = 20'000'000;           // of matrices, in those beyond
  if (!best.fits)
    return false;
  if (ascent)
    ascent->begin();
  else
    ascent.emplace(*problem, copies);
  int64_t affordable = std::clamp(kMostEntries / entries(), kFew, kMost);
  ascent->run(limits.isThorough ? kMost : affordable, best.seconds, limits.proven);
  ascent->givePaid();
  build();
  best.lowerBound = std::max(best.lowerBound, std::min(ascent->bound(), best.seconds));
  return best.lowerBound >= (1 - limits.proven) * best.seconds;
}

// Solves the graph without the choices that are in nothing better.
solver::Solution Rounds::solveWithout(const std::optional<CopyAscent> &ascent,
                                      const solver::Options &options) {
  if (!ascent)
    return solver::solve(problem->graph, options);
  std::vector<std::vector<double>> all = problem->graph.costs;
  for (auto [costs, excluded] : llvm::zip_equal(problem->graph.costs, ascent->excluded()))
    for (auto [i, isOut] : llvm::enumerate(excluded))
      if (isOut)
        costs[i] = solver::forbidden;
  solver::Solution solution = solver::solve(problem->graph, options);
  problem->graph.costs = std::move(all);
  return solution;
}

void Rounds::run(const RoundLimits &limits, BestFound &best) {
  solver::Options options;
  options.capacity = capacity;
  options.effort = limits.effort;
  options.gap = kClose;
  int64_t inVain = limits.isThorough ? kThorough : kInVain;
  double stride = 1, least = solver::forbidden, lastGap = 1;
  bool isLast = false;
  int64_t gained = 0; // the last round that did
  std::optional<CopyAscent> ascent;
  for (int64_t round = 0;; ++round) {
    if (raise(ascent, limits, best) && round > 0)
      break;
    if (!best.values.empty())
      options.start = problem->encode(best.values);
    solver::Solution solution = solveWithout(ascent, options);
    if (!solution.choices.empty())
      consider(problem->decode(solution.choices), best);
    if (solution.cost == solver::forbidden) { // nothing is within the capacity, or was found
      bool isNone = solution.status == solver::Status::infeasible;
      best.isImpossible = isNone && !best.fits;
      if (isNone && best.fits)
        best.lowerBound = best.seconds;
      break;
    }
    stride *= round == 0 ? 1 : solution.lowerBound > best.lowerBound ? kLonger : kShorter;
    best.lowerBound = std::max(best.lowerBound, std::min(solution.lowerBound, best.seconds));
    Uses used = problem->uses(solution.choices);
    double unpaid = copies.unpaid(used);
    least = std::min({least, best.seconds, solution.cost + unpaid});
    double gap = 1 - best.lowerBound / best.seconds;
    if (gap < kGained * lastGap) {
      lastGap = gap;
      gained = round;
    }
    if (isLast || gap <= limits.proven)
      break;
    isLast = round >= limits.most || unpaid <= kClose * solution.cost || round - gained >= inVain;
    if (isLast) {
      if (!limits.isThorough || options.gap == kClose)
        break;
      options.gap = kClose;
      continue;
    }
    copies.shift(used, stride * (least - solution.cost));
    build();
    options.effort = limits.isThorough ? limits.effort : 1;
    options.gap = std::max(kClose, gap / 8);
  }
  // An assignment that nothing in the graph reaches is none that the graph has: nothing is proven then.
  if (best.lowerBound >= (1 - kRounding) * best.seconds &&
      solver::costOf(problem->graph, problem->encode(best.values)) > (1 + kRounding) * best.seconds)
    best.lowerBound = 0;
}

} // namespace tessera::plan
