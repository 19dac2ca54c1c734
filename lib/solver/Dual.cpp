#include "lib/solver/Dual.h"

#include "lib/solver/Least.h"

#include <algorithm>
#include <cassert>

namespace tessera::solver {

Dual::Dual(const Network &network) : network(network), message(network.messages) {
  int64_t choices = 0;
  for (const std::vector<double> &list : network.problem.costs) {
    first.push_back(choices);
    choices += static_cast<int64_t>(list.size());
    out.emplace_back(list.size());
  }
  costs.resize(choices);
  setPrices(std::vector<double>(network.problem.room.size()));
}

void Dual::setPrices(std::vector<double> prices) {
  price = std::move(prices);
  assert(std::all_of(price.begin(), price.end(), [](double each) { return each >= 0; }));
  std::vector<double> until(price.size() + 1);
  paid = 0;
  for (size_t t = 0; t < price.size(); ++t) {
    until[t + 1] = until[t] + price[t];
    paid += price[t] * static_cast<double>(network.problem.room[t]);
  }
  for (int32_t v = 0; v < network.vertices(); ++v) {
    std::copy(network.problem.costs[v].begin(), network.problem.costs[v].end(),
              costs.begin() + first[v]);
    for (int32_t h : network.holds(v)) {
      const Hold &hold = network.problem.holds[h];
      double each = until[hold.end] - until[hold.begin];
      for (int32_t i = 0; each > 0 && i < network.size(v); ++i)
        costs[first[v] + i] += each * static_cast<double>(hold.bytes[i]);
    }
  }
  lower = -forbidden;
}

// What is left at the vertex: its part of the bound.
double Dual::visit(int32_t v, bool forward, double limit) {
  int32_t size = network.size(v), ahead = 0, behind = 0;
  sum.assign(costs.begin() + first[v], costs.begin() + first[v] + size);
  for (const HalfEdge *edge = network.begin(v); edge != network.end(v); ++edge) {
    double *to = &message[edge->message];
    if ((edge->other > v) == forward) {
      ++ahead;
    } else {
      ++behind;
      int32_t count = network.size(edge->other);
      leastOf(edge->fromOther, &message[edge->otherMessage], count, size, to);
      counted += int64_t(count) * size;
    }
    for (int32_t i = 0; i < size; ++i)
      sum[i] += to[i];
  }
  double least = *std::min_element(sum.begin(), sum.end());
  for (int32_t i = 0; i < size; ++i)
    if (sum[i] - least >= limit && !out[v][i]) {
      out[v][i] = true;
      ++outCount;
    }
  if (!ahead)
    return least;
  double share = 1.0 / std::max(ahead, behind);
  for (const HalfEdge *edge = network.begin(v); edge != network.end(v); ++edge)
    if ((edge->other > v) == forward)
      for (int32_t i = 0; i < size; ++i)
        message[edge->message + i] -= share * sum[i];
  return ahead >= behind ? 0 : (1 - ahead * share) * least;
}

void Dual::pass(bool forward, double wanted) {
  double limit = lower == -forbidden ? forbidden : wanted - lower, total = 0;
  for (int32_t n = 0, count = network.vertices(); n < count; ++n)
    total += visit(forward ? n : count - 1 - n, forward, limit);
  counted += 2 * network.messages;
  lower = total - paid + network.problem.constant;
}

void Dual::scoresOf(int32_t v, const Choices &before, std::vector<double> &scores) const {
  int32_t size = network.size(v);
  scores.assign(costs.begin() + first[v], costs.begin() + first[v] + size);
  for (const HalfEdge *edge = network.begin(v); edge != network.end(v); ++edge) {
    const double *from = edge->other < v ? edge->fromOther + int64_t(before[edge->other]) * size
                                         : &message[edge->message];
    for (int32_t i = 0; i < size; ++i)
      scores[i] += from[i];
  }
}

} // namespace tessera::solver
