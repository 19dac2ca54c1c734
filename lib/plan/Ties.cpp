#include "lib/plan/Ties.h"

#include "lib/plan/Memory.h"
#include "llvm/ADT/STLExtras.h"

#include <tuple>

namespace tessera::plan {

using sharding::TensorSharding;

namespace {

constexpr double kAsLong = 2e-4;          // of a step, all that is changed together
constexpr int64_t kMostOps = 200'000;     // that are priced, for all that is tried
constexpr int64_t kMostEntries = 300'000; // of matrices, likewise

// What is simpler is less.
using Simplicity = std::tuple<double, std::vector<int64_t>>;

Simplicity simplicityOf(const Program &program, int32_t value, const TensorSharding &sharding) {
  std::vector<int64_t> order{0};
  for (auto [d, dim] : llvm::enumerate(sharding.dims))
    if (!dim.axes.empty()) {
      ++order[0];
      order.push_back(int64_t(d));
      for (const sharding::AxisRef &axis : dim.axes)
        order.insert(order.end(), {axis.axis, axis.preSize, axis.size});
    }
  return {heldBytes(program, value, sharding), std::move(order)};
}

class TieBreaker {
public:
  TieBreaker(AssignmentPrices &prices, Rounds &rounds, BestFound &best)
      : rounds(rounds), best(best), program(prices.getProgram()), tables(prices.getTables()),
        most(best.seconds * (1 + kAsLong)) {}

  void run() {
    for (size_t v = 0; v < program.values.size(); ++v) {
      if (program.values[v].argument < 0 || tables.vertexOf[v] < 0)
        continue;
      auto value = int32_t(v);
      std::vector<std::pair<Simplicity, const TensorSharding *>> simpler;
      Simplicity now = simplicityOf(program, value, best.values[v]);
      for (const TensorSharding &sharding : tables.lists[tables.listOf[v]])
        if (Simplicity other = simplicityOf(program, value, sharding); other < now)
          simpler.push_back({std::move(other), &sharding});
      llvm::stable_sort(simpler, llvm::less_first());
      for (const auto &[simplicity, sharding] : simpler)
        if (alone(value, *sharding) || solved(value, *sharding))
          break;
      decided.push_back(value);
    }
  }

private:
  bool alone(int32_t value, const TensorSharding &sharding) {
    if (opsLeft <= 0)
      return false;
    opsLeft -= int64_t(program.graph.ops.size());
    Assignment values = best.values;
    for (size_t v = 0; v < values.size(); ++v)
      if (tables.vertexOf[v] == tables.vertexOf[value])
        values[v] = sharding;
    BestFound found;
    rounds.consider(std::move(values), found, most);
    return take(std::move(found));
  }

  bool solved(int32_t value, const TensorSharding &sharding) {
    int64_t entries = solver::entriesOf(rounds.getProblem().graph);
    if (entries > entriesLeft)
      return false;
    entriesLeft -= entries;
    std::vector<int32_t> values = decided;
    values.push_back(value);
    BestFound found;
    bool possible = rounds.leaveOut(values, [&](int32_t v, const TensorSharding &each) {
      return !sameAxes(each, v == value ? sharding : best.values[v]);
    });
    if (possible)
      rounds.run({.effort = 1, .most = 2}, found);
    rounds.allowAll();
    return possible && take(std::move(found));
  }

  bool take(BestFound found) {
    if (found.values.empty() || !found.fits || found.seconds > most)
      return false;
    found.lowerBound = best.lowerBound;
    best = std::move(found);
    return true;
  }

  Rounds &rounds;
  BestFound &best;
  const Program &program;
  const MeshTables &tables;
  const double most;
  int64_t opsLeft = kMostOps, entriesLeft = kMostEntries;
  std::vector<int32_t> decided; // arguments: as they lie now
};

} // namespace

void takeSimplestTies(AssignmentPrices &prices, Rounds &rounds, BestFound &best) {
  if (best.fits)
    TieBreaker(prices, rounds, best).run();
}

} // namespace tessera::plan
