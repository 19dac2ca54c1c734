#include "lib/solver/Tree.h"

#include "lib/solver/Parts.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera::solver {

namespace {

// Of the core's steps and vertices, what was said of the problem's.
std::vector<double> pricesOf(const Reduction &reduction, const std::vector<double> &prices) {
  std::vector<double> result(reduction.steps().size());
  for (size_t t = 0; t < result.size() && !prices.empty(); ++t)
    result[t] = prices[reduction.steps()[t]];
  return result;
}

Choices startOf(const Reduction &reduction, const Choices &start) {
  Choices result;
  for (size_t v = 0; v < reduction.vertices().size(); ++v) {
    const std::vector<int32_t> &kept = reduction.kept()[v];
    auto at = std::find(kept.begin(), kept.end(), start[reduction.vertices()[v]]);
    result.push_back(at == kept.end() ? 0 : static_cast<int32_t>(at - kept.begin()));
  }
  return result;
}

Problem without(Problem problem, const std::vector<std::vector<bool>> &excluded) {
  for (size_t v = 0; v < excluded.size(); ++v)
    for (size_t i = 0; i < excluded[v].size(); ++i)
      if (excluded[v][i])
        problem.costs[v][i] = forbidden;
  return problem;
}

int64_t choicesOf(const Problem &problem) {
  int64_t count = 0;
  for (const std::vector<double> &costs : problem.costs)
    count += static_cast<int64_t>(costs.size());
  return count;
}

// How much of a slice of steps the bound gets, and parts: what gained less for its steps gets less.
struct Shares {
  double bound = 1, parts = 0.5;

  void balance(double boundGained, double partsGained) {
    bool toParts = boundGained * parts < partsGained * bound;
    bound = std::clamp(toParts ? bound / 2 : bound * 2, 0.125, 1.0);
    parts = std::clamp(toParts ? parts * 2 : parts / 2, 0.0625, 1.5);
  }
};

int64_t shareOf(int64_t slice, double share) {
  return static_cast<int64_t>(static_cast<double>(slice) * share);
}

// About what it takes to look at everything but matrices.
int64_t sizeOf(const Problem &problem) {
  int64_t size = choicesOf(problem) + 4 * static_cast<int64_t>(problem.links.size()) +
                 4 * static_cast<int64_t>(problem.room.size());
  for (const Hold &hold : problem.holds)
    size += 8 * static_cast<int64_t>(hold.bytes.size());
  return size;
}

} // namespace

void Tree::offer(const Choices &choices, double choicesCost) {
  if (choicesCost < bestCost) {
    best = choices;
    bestCost = choicesCost;
  }
}

bool Tree::near(double bound) const {
  return bestCost < forbidden && bestCost - bound <= limits.gap * std::abs(bestCost);
}

void Tree::take(const Part &part, const Reduction &reduction, const Choices &core, double cost) {
  if (cost >= bestCost)
    return;
  bestCost = cost;
  best = reduction.expanded(core);
  for (const Part *at = &part; at->around; at = at->around)
    best = at->reduction->expanded(best);
}

double Tree::explore(const Problem &problem, std::vector<double> prices) {
  return std::min(
      explore(
          {.problem = problem, .matrices = matrices, .prices = std::move(prices), .start = best}),
      bestCost);
}

double Tree::explore(const Part &part) {
  int64_t before = part.matrices.steps();
  Reduction reduction(part.problem, part.matrices, std::max<int64_t>(limits.steps / 4, 1'000'000));
  limits.steps -= part.matrices.steps() - before + 8 * sizeOf(part.problem);
  if (!reduction.possible())
    return bestCost;
  const Problem &core = reduction.core();
  for (int64_t room : core.room)
    if (room < 0)
      return bestCost;
  if (core.vertices() == 0) {
    take(part, reduction, {}, core.constant);
    return core.constant;
  }
  // Where steps fell away, vertices may have nothing to hold any more; where the least that is held
  // grew, choices have no room any more: one of them can hide what all others cost, so that each is
  // worth a reduction, as long as there are steps for it.
  bool isSmaller = 10 * core.vertices() < 9 * part.problem.vertices() ||
                   10 * core.room.size() < 9 * part.problem.room.size();
  if (isSmaller || (!outOfSteps() && !tooLarge(core).empty()))
    return explore({core, part.matrices, &part, &reduction, pricesOf(reduction, part.prices),
                    part.start.empty() ? Choices() : startOf(reduction, part.start), part.depth});
  Ascent ascent(core, part.matrices);
  ascent.begin(pricesOf(reduction, part.prices));
  if (!part.start.empty())
    ascent.offer(startOf(reduction, part.start));
  climb(part, reduction, ascent);
  if (near(ascent.bound()) || ascent.bound() >= bestCost || outOfSteps())
    return ascent.bound();
  return std::max(ascent.bound(), branch(part, reduction, ascent));
}

// Raises the bound and looks for better choices by turns, as long as either gets anywhere.
void Tree::climb(const Part &part, const Reduction &reduction, Ascent &ascent) {
  const Problem &core = reduction.core();
  int64_t size = choicesOf(core) + 16 * static_cast<int64_t>(core.links.size());
  int64_t entries = ascent.entries();
  limits.steps = std::max(limits.steps, 2 * entries * limits.rounds);
  limits.rounds = 0;
  bool whole = limits.parts && part.depth == 0 && core.vertices() > 100;
  int64_t slice = part.depth > 0 ? 64 * size : whole ? 500 * entries : limits.steps / 2;
  std::optional<PartSearch> parts;
  Shares shares;
  while (true) {
    double bound = ascent.bound(), cost = bestCost;
    int64_t before = ascent.steps();
    ascent.run({.steps = std::min(limits.steps, shareOf(slice, shares.bound)),
                .rounds = part.depth == 0 ? 4000 : 100,
                .wanted = bestCost,
                .gap = limits.gap,
                .stop = limits.stop});
    limits.steps -= ascent.steps() - before;
    if (ascent.found())
      take(part, reduction, ascent.choices(), ascent.cost());
    if (!whole || near(ascent.bound()) || ascent.bound() >= bestCost || outOfSteps())
      return;
    if (ascent.found()) {
      double whereParts = bestCost;
      if (!parts)
        parts.emplace(core, part.matrices);
      parts->begin(ascent.choices(), ascent.regrets(), ascent.prices());
      limits.steps -= parts->run(std::min(shareOf(slice, shares.parts), limits.steps), limits.stop);
      ascent.offer(parts->choices());
      take(part, reduction, ascent.choices(), ascent.cost());
      if (limits.seen && !outOfSteps())
        searchSeen(part, reduction, ascent,
                   std::min(shareOf(slice, shares.parts / 2), limits.steps));
      shares.balance(ascent.bound() - bound, whereParts - bestCost);
    }
    double gained = (cost - bestCost) + (ascent.bound() - bound);
    if (near(ascent.bound()) || outOfSteps())
      return;
    // What is small is divided; of what is large, too little would be.
    bool stuck = gained < 0.01 * (bestCost - ascent.bound());
    if (stuck && (entries < 200'000 || 20 * ascent.excludedCount() > choicesOf(core)))
      return;
  }
}

// Better choices among those that were seen: most vertices have one of these, so that all of them
// together are a small problem.
void Tree::searchSeen(const Part &part, const Reduction &reduction, Ascent &ascent, int64_t steps) {
  const Problem &core = reduction.core();
  std::vector<std::vector<bool>> unseen = ascent.seen();
  for (std::vector<bool> &choices : unseen)
    choices.flip();
  Problem few = without(core, unseen);
  Matrices own;
  copyMatrices(few, part.matrices, own);
  limits.steps -= 4 * own.steps();
  Tree tree(own, {.steps = steps, .gap = limits.gap, .seen = false, .stop = limits.stop});
  tree.offer(ascent.choices(), ascent.cost());
  tree.explore(few, ascent.prices());
  limits.steps -= steps - std::max<int64_t>(tree.stepsLeft(), 0);
  ascent.offer(tree.choices());
  take(part, reduction, ascent.choices(), ascent.cost());
}

double Tree::branch(const Part &part, const Reduction &reduction, const Ascent &ascent) {
  const Problem &core = reduction.core();
  auto [vertex, choice] = ascent.leastClear();
  std::vector<std::vector<bool>> excluded = ascent.excluded();
  auto within = [&](const std::vector<std::vector<bool>> &out, int depth) {
    Problem problem = without(core, out);
    Matrices own;
    copyMatrices(problem, part.matrices, own);
    limits.steps -= 4 * own.steps();
    return explore({problem, own, &part, &reduction, ascent.prices(),
                    ascent.found() ? ascent.choices() : Choices(), depth});
  };
  if (20 * ascent.excludedCount() > choicesOf(core))
    return within(excluded, part.depth);
  if (part.depth > 200)
    return -forbidden;
  double least = forbidden;
  for (bool taken : {true, false}) {
    std::vector<std::vector<bool>> out = excluded;
    for (size_t i = 0; i < out[vertex].size(); ++i)
      if ((static_cast<int32_t>(i) == choice) != taken)
        out[vertex][i] = true;
    least = std::min(least, outOfSteps() ? -forbidden : within(out, part.depth + 1));
  }
  return least;
}

} // namespace tessera::solver
