#include "lib/solver/Ascent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::solver {

Ascent::Ascent(const Problem &problem, const Matrices &matrices)
    : problem(problem), network(problem, matrices), dual(network), search(network),
      decoded(problem.vertices()), bestPrices(problem.room.size()), priced(problem.room.size()) {
  forgetSeen();
}

void Ascent::forgetSeen() {
  wasSeen.clear();
  for (const std::vector<double> &costs : problem.costs)
    wasSeen.emplace_back(costs.size());
  if (found())
    see(best);
}

void Ascent::see(const Choices &choices) {
  for (size_t v = 0; v < choices.size(); ++v)
    wasSeen[v][choices[v]] = true;
}

void Ascent::begin(std::vector<double> prices) {
  for (size_t t = 0; t < prices.size(); ++t)
    priced[t] = prices[t] > 0;
  bestPrices = prices;
  dual.setPrices(std::move(prices));
}

void Ascent::offer(const Choices &choices) {
  search.set(choices);
  takeSearch();
}

void Ascent::takeSearch() {
  double cost = search.cost() + problem.constant;
  if (search.feasible() && cost < bestCost) {
    bestCost = cost;
    best = search.choices();
    see(best);
  }
}

// What messages and prices make best, whatever the room.
void Ascent::decode() {
  std::vector<double> scores;
  for (int32_t v = 0; v < network.vertices(); ++v) {
    dual.scoresOf(v, decoded, scores);
    counted += static_cast<int64_t>(scores.size()) * (network.end(v) - network.begin(v) + 1);
    decoded[v] =
        static_cast<int32_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
  }
}

// Likewise, of the choices that have room beside those before and the least of those behind.
void Ascent::decodeWithin() {
  std::vector<double> scores;
  std::vector<int32_t> order;
  Profile profile(problem.room);
  for (int32_t v = 0; v < network.vertices(); ++v) {
    dual.scoresOf(v, decoded, scores);
    counted += static_cast<int64_t>(scores.size()) * (network.end(v) - network.begin(v) + 1);
    order.resize(scores.size());
    std::iota(order.begin(), order.end(), 0);
    if (network.holds(v).empty()) {
      decoded[v] =
          static_cast<int32_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
      continue;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return scores[a] < scores[b]; });
    int64_t leastOver = INT64_MAX;
    for (int32_t i : order) {
      int64_t over = INT64_MIN;
      for (int32_t h : network.holds(v)) {
        const Hold &hold = problem.holds[h];
        over = std::max(over, profile.over(hold.begin, hold.end) + hold.bytes[i]);
      }
      counted += 8;
      if (over < leastOver) {
        leastOver = std::max<int64_t>(over, 0);
        decoded[v] = i;
      }
      if (over <= 0)
        break;
    }
    for (int32_t h : network.holds(v)) {
      const Hold &hold = problem.holds[h];
      profile.add(hold.begin, hold.end, hold.bytes[decoded[v]]);
    }
  }
}

// Prices rise where more is held than there is room for, and fall elsewhere (subgradient with a
// mean of directions: Barahona and Anbil, The Volume Algorithm, 2000).
void Ascent::reprice(double wanted) {
  std::vector<double> change(problem.room.size() + 1);
  for (const Hold &hold : problem.holds) {
    change[hold.begin] += static_cast<double>(hold.bytes[decoded[hold.vertex]]);
    change[hold.end] -= static_cast<double>(hold.bytes[decoded[hold.vertex]]);
  }
  bool firstTime = held.empty();
  held.resize(problem.room.size());
  double now = 0, norm = 0, most = 0;
  size_t worst = 0;
  for (size_t t = 0; t < held.size(); ++t) {
    now += change[t];
    double over = now - static_cast<double>(problem.room[t]);
    held[t] = firstTime ? over : 0.7 * held[t] + 0.3 * over;
    if (over > most) {
      most = over;
      worst = t;
    }
  }
  if (most > 0)
    priced[worst] = true;
  if (dual.bound() > pricedBound) {
    pricedBound = dual.bound();
    bestPrices = dual.prices();
    stride = std::min(stride * 1.05, 2.0);
  } else {
    stride *= 0.5;
  }
  for (size_t t = 0; t < held.size(); ++t)
    if (priced[t] && (held[t] > 0 || bestPrices[t] > 0))
      norm += held[t] * held[t];
  if (norm == 0) {
    // Prices so high that nothing wants the room say nothing of it: back to the best ones.
    if (dual.prices() != bestPrices)
      dual.setPrices(bestPrices);
    return;
  }
  double target = wanted < forbidden ? wanted : pricedBound + 0.1 * std::abs(pricedBound);
  double step = stride * std::max(target - pricedBound, 1e-6 * std::abs(pricedBound)) / norm;
  std::vector<double> prices = bestPrices;
  for (size_t t = 0; t < prices.size(); ++t)
    if (priced[t])
      prices[t] = std::max(0.0, prices[t] + step * held[t]);
  counted += static_cast<int64_t>(prices.size()) * 4;
  dual.setPrices(std::move(prices));
}

namespace {

// to + reach * (to - from), where both are finite.
std::vector<double> beyond(const std::vector<double> &from, const std::vector<double> &to,
                           double reach) {
  std::vector<double> result(to.size());
  for (size_t n = 0; n < to.size(); ++n) {
    double way = to[n] - from[n];
    result[n] = std::isfinite(way) ? to[n] + reach * way : to[n];
  }
  return result;
}

} // namespace

// Messages and prices go far the same way in small steps: from time to time they go on that way, many
// steps at once, and back where that does not raise the bound more than a step would have.
void Ascent::leap(double wanted) {
  constexpr int passes = 16;
  std::vector<double> messages = dual.messages(), prices = dual.prices();
  double bound = bestBound;
  if (!messagesBefore.empty() && bound > boundBefore) {
    std::vector<double> there = beyond(pricesBefore, prices, reach);
    for (double &price : there)
      price = std::max(price, 0.0);
    dual.setMessages(beyond(messagesBefore, messages, reach));
    dual.setPrices(std::move(there));
    dual.pass(true);
    dual.pass(false, wanted);
    counted += 2 * network.messages;
    if (dual.bound() > bound + (bound - boundBefore) / passes) {
      reach = std::min(reach * 2, 1024.0);
      bestBound = pricedBound = dual.bound();
      bestPrices = prices = dual.prices();
      messages = dual.messages();
    } else {
      reach = std::max(reach / 2, 1.0);
      dual.setMessages(messages);
      dual.setPrices(prices);
    }
  }
  messagesBefore = std::move(messages);
  pricesBefore = std::move(prices);
  boundBefore = bestBound;
}

void Ascent::tryChoices(int64_t searchSteps, const AscentLimits &limits) {
  decodeWithin();
  see(decoded);
  search.set(decoded);
  if (search.over() > 0)
    search.repair();
  search.improve();
  takeSearch();
  if (!found())
    return;
  search.set(best);
  search.perturb(searchSteps, limits.stop);
  takeSearch();
}

void Ascent::run(const AscentLimits &limits) {
  int64_t end = steps() + limits.steps;
  double stalledAt = -forbidden;
  int64_t half = steps() + limits.steps / 2;
  for (int64_t round = 0; steps() < end && round < limits.rounds; ++round) {
    counted += 500;
    if (steps() > half) {
      forgetSeen();
      half = INT64_MAX;
    }
    dual.pass(true);
    bestBound = std::max(bestBound, dual.bound());
    double wanted = std::min(bestCost, limits.wanted);
    dual.pass(false, wanted);
    bestBound = std::max(bestBound, dual.bound());
    if (bestBound - problem.constant > search.worst())
      bestBound = forbidden; // prices that nothing within the room could ask for
    if (bestBound >= wanted)
      return;
    bool last = (limits.stop && limits.stop()) || round + 1 == limits.rounds;
    if (round < 4 || round % 8 == 0 || last)
      tryChoices(network.entries, limits);
    wanted = std::min(bestCost, limits.wanted);
    if (last || (wanted < forbidden && wanted - bestBound <= limits.gap * std::abs(wanted)))
      return;
    if (!problem.holds.empty()) {
      decode();
      see(decoded);
      reprice(wanted);
    }
    if (round % 16 == 15)
      leap(wanted);
    int32_t every = problem.holds.empty() ? 16 : 200;
    if (round % every == every - 1) {
      if (bestBound - stalledAt <= (problem.holds.empty() ? 1e-4 : 0.01) *
                                       (std::min(wanted, 2 * std::abs(bestBound)) - bestBound))
        return;
      stalledAt = bestBound;
    }
  }
}

std::pair<int32_t, int32_t> Ascent::leastClear() const {
  std::vector<double> scores;
  int32_t vertex = -1, choice = 0;
  double most = -1;
  for (int32_t v = 0; v < network.vertices(); ++v) {
    dual.scoresOf(v, found() ? best : decoded, scores);
    int32_t first =
        static_cast<int32_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
    double degree = static_cast<double>(network.end(v) - network.begin(v));
    std::nth_element(scores.begin(), scores.begin() + 1, scores.end());
    double unclear = (1 + degree) / (1e-9 * std::abs(bestBound) + scores[1] - scores[0]);
    if (unclear > most) {
      most = unclear;
      vertex = v;
      choice = first;
    }
  }
  return {vertex, choice};
}

std::vector<double> Ascent::regrets() const {
  std::vector<double> result, scores;
  for (int32_t v = 0; v < network.vertices(); ++v) {
    dual.scoresOf(v, best, scores);
    result.push_back(scores[best[v]] - *std::min_element(scores.begin(), scores.end()));
  }
  return result;
}

} // namespace tessera::solver
