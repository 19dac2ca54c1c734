#include "lib/solver/Parts.h"

#include "lib/solver/Tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace tessera::solver {

void copyMatrices(Problem &problem, const Matrices &from, Matrices &to) {
  std::unordered_map<int32_t, int32_t> ids;
  auto copied = [&](int32_t id) {
    auto [at, isNew] = ids.emplace(id, 0);
    if (isNew)
      at->second = to.add(from[id]);
    return at->second;
  };
  for (Link &link : problem.links) {
    link.forward = copied(link.forward);
    link.backward = copied(link.backward);
  }
}

PartSearch::PartSearch(const Problem &problem, const Matrices &matrices)
    : problem(problem), matrices(matrices), network(problem, matrices), linksOf(problem.vertices()),
      place(problem.vertices(), -1) {
  for (size_t n = 0; n < problem.links.size(); ++n) {
    linksOf[problem.links[n].from].push_back(static_cast<int32_t>(n));
    linksOf[problem.links[n].to].push_back(static_cast<int32_t>(n));
  }
}

void PartSearch::begin(const Choices &choices, const std::vector<double> &regrets,
                       const std::vector<double> &prices) {
  chosen = choices;
  regretUpTo.resize(regrets.size());
  std::inclusive_scan(regrets.begin(), regrets.end(), regretUpTo.begin());
  price = prices;
  paidUpTo.clear();
  for (size_t t = 0; t < prices.size(); ++t)
    paidUpTo.push_back((t ? paidUpTo.back() : 0) +
                       prices[t] * static_cast<double>(problem.room[t]));
  left = problem.room;
  for (const Hold &hold : problem.holds)
    for (int32_t t = hold.begin; t < hold.end; ++t)
      left[t] -= hold.bytes[chosen[hold.vertex]];
}

// Adds vertices around one, near ones first.
void PartSearch::growFrom(int32_t seed, size_t count) {
  size_t at = part.size(), end = part.size() + count;
  auto add = [&](int32_t v) {
    if (place[v] >= 0)
      return;
    place[v] = static_cast<int32_t>(part.size());
    part.push_back(v);
  };
  add(seed);
  for (; at < part.size() && part.size() < end; ++at) {
    int32_t v = part[at];
    int64_t degree = network.end(v) - network.begin(v);
    // Of one that all know, a few.
    int64_t first = degree > 24 ? static_cast<int64_t>(random() % degree) : 0;
    for (int64_t n = 0; n < std::min<int64_t>(degree, 24) && part.size() < end; ++n)
      add((network.begin(v) + (first + n) % degree)->other);
  }
}

// A number, each as likely as its part of the sum.
size_t PartSearch::draw(const std::vector<double> &upTo) {
  double at = std::ldexp(static_cast<double>(random() >> 11), -53) * upTo.back();
  return std::upper_bound(upTo.begin(), upTo.end() - 1, at) - upTo.begin();
}

// One that binds.
int32_t PartSearch::pickStep() {
  bool byPrice = paidUpTo.back() > 0 && random() % 2;
  return static_cast<int32_t>(byPrice ? draw(paidUpTo)
                                      : std::min_element(left.begin(), left.end()) - left.begin());
}

// The vertices that hold something in a step, and what they and those before them hold.
std::pair<std::vector<int32_t>, std::vector<double>> PartSearch::holdersAt(int32_t step) const {
  std::vector<int32_t> holders;
  std::vector<double> heldUpTo;
  double held = 0;
  for (const Hold &hold : problem.holds) {
    int64_t bytes = hold.bytes[chosen[hold.vertex]];
    if (hold.begin > step || step >= hold.end || bytes == 0)
      continue;
    holders.push_back(hold.vertex);
    heldUpTo.push_back(held += static_cast<double>(bytes));
  }
  return {std::move(holders), std::move(heldUpTo)};
}

int32_t PartSearch::pickSeed() {
  if (regretUpTo.back() == 0 || random() % 2)
    return static_cast<int32_t>(random() % problem.vertices());
  return static_cast<int32_t>(draw(regretUpTo));
}

void PartSearch::pickPart() {
  for (int32_t v : part)
    place[v] = -1;
  part.clear();
  uint64_t kind = left.empty() ? 0 : random() % 4;
  size_t holders = kind == 3 ? 8 : kind == 2 ? 1 : 0;
  growFrom(pickSeed(), holders ? size / 2 : size);
  if (!holders)
    return;
  // Each as likely as it holds much: most of what is held there is nothing beside a few.
  auto [vertices, heldUpTo] = holdersAt(pickStep());
  for (size_t n = 0; n < holders && !vertices.empty(); ++n)
    growFrom(vertices[draw(heldUpTo)], std::max<size_t>(size / 2 / holders, 1));
}

Problem PartSearch::partProblem() const {
  Problem result;
  for (int32_t v : part)
    result.costs.push_back(problem.costs[v]);
  for (size_t n = 0; n < part.size(); ++n)
    for (int32_t number : linksOf[part[n]]) {
      const Link &link = problem.links[number];
      int32_t other = link.from == part[n] ? link.to : link.from;
      if (place[other] >= 0) {
        if (link.from == part[n])
          result.links.push_back({place[link.from], place[link.to], link.forward, link.backward});
        continue;
      }
      const Matrix &matrix = matrices[link.from == part[n] ? link.backward : link.forward];
      const double *row = &matrix.costs[int64_t(chosen[other]) * matrix.columns];
      for (int32_t i = 0; i < matrix.columns; ++i)
        result.costs[n][i] += row[i];
    }
  result.room = left;
  for (int32_t v : part)
    for (int32_t h : network.holds(v)) {
      const Hold &hold = problem.holds[h];
      result.holds.push_back({place[v], hold.begin, hold.end, hold.bytes});
      for (int32_t t = hold.begin; t < hold.end; ++t)
        result.room[t] += hold.bytes[chosen[v]];
    }
  return result;
}

int64_t PartSearch::improvePart(const std::function<bool()> &stop) {
  constexpr int64_t steps = 4'000'000;
  Matrices own;
  Problem small = partProblem();
  copyMatrices(small, matrices, own);
  double cost = 0;
  Choices now;
  for (size_t n = 0; n < part.size(); ++n) {
    now.push_back(chosen[part[n]]);
    cost += small.costs[n][now[n]];
  }
  for (const Link &link : small.links)
    cost +=
        own[link.forward].costs[int64_t(now[link.from]) * own[link.forward].columns + now[link.to]];
  std::vector<int32_t> kept;
  leaveOutSteps(small, kept);
  int64_t before = own.steps();
  Tree tree(own, {.steps = steps, .gap = 1e-4, .parts = false, .stop = stop});
  tree.offer(now, cost);
  std::vector<double> prices;
  for (int32_t t : kept)
    prices.push_back(price[t]);
  tree.explore(small, std::move(prices));
  int64_t taken = 4 * before + own.steps() + steps - std::max<int64_t>(tree.stepsLeft(), 0);
  if (tree.stepsLeft() > steps * 3 / 4)
    size = std::min<size_t>(size + 1 + size / 16, 1000);
  else if (tree.stepsLeft() <= 0)
    size = std::max<size_t>(size - size / 8, 8);
  if (tree.cost() >= cost)
    return taken;
  for (size_t n = 0; n < part.size(); ++n) {
    int32_t v = part[n], choice = tree.choices()[n];
    for (int32_t h : network.holds(v)) {
      const Hold &hold = problem.holds[h];
      for (int32_t t = hold.begin; t < hold.end; ++t)
        left[t] += hold.bytes[chosen[v]] - hold.bytes[choice];
    }
    chosen[v] = choice;
  }
  return taken;
}

int64_t PartSearch::run(int64_t steps, const std::function<bool()> &stop) {
  int64_t taken = 0;
  while (taken < steps && !(stop && stop())) {
    pickPart();
    taken += improvePart(stop) + 10 * static_cast<int64_t>(left.size() + part.size()) + 1000;
  }
  return taken;
}

} // namespace tessera::solver
