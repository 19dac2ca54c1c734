#include "lib/solver/Search.h"

#include <cmath>

namespace tessera::solver {

Search::Search(const Network &network)
    : network(network), profile(network.problem.room), chosen(network.vertices(), 0),
      queued(network.vertices()) {
  for (const std::vector<double> &costs : network.problem.costs) {
    double most = 0;
    for (double cost : costs)
      if (cost != forbidden)
        most = std::max(most, std::abs(cost));
    penalty += most;
  }
  for (int32_t v = 0; v < network.vertices(); ++v)
    for (const HalfEdge *edge = network.begin(v); edge != network.end(v); ++edge) {
      double most = 0;
      for (int64_t i = 0, n = int64_t(network.size(v)) * network.size(edge->other); i < n; ++i)
        if (edge->fromOther[i] != forbidden)
          most = std::max(most, edge->fromOther[i]);
      penalty += most;
    }
  penalty = std::ldexp(1.0, std::ilogb(penalty) + 2);
}

void Search::set(const Choices &choices) {
  Profile empty(network.problem.room);
  profile = std::move(empty);
  chosen = choices;
  for (const Hold &hold : network.problem.holds)
    profile.add(hold.begin, hold.end, hold.bytes[chosen[hold.vertex]]);
  total = 0;
  for (int32_t v = 0; v < network.vertices(); ++v) {
    total += std::min(network.problem.costs[v][chosen[v]], penalty);
    for (const HalfEdge *edge = network.begin(v); edge != network.end(v); ++edge)
      if (edge->other < v)
        total += std::min(
            edge->fromOther[int64_t(chosen[edge->other]) * network.size(v) + chosen[v]], penalty);
  }
}

void Search::scoresOf(int32_t v) {
  int32_t size = network.size(v);
  scores = network.problem.costs[v];
  for (const HalfEdge *edge = network.begin(v); edge != network.end(v); ++edge) {
    const double *row = edge->fromOther + int64_t(chosen[edge->other]) * size;
    for (int32_t i = 0; i < size; ++i)
      scores[i] += std::min(row[i], penalty);
  }
  counted += (network.end(v) - network.begin(v) + 1) * size;
}

bool Search::fits(int32_t v, int32_t choice) {
  for (int32_t h : network.holds(v)) {
    const Hold &hold = network.problem.holds[h];
    int64_t more = hold.bytes[choice] - hold.bytes[chosen[v]];
    counted += 8;
    if (more > 0 && profile.over(hold.begin, hold.end) + more > 0)
      return false;
  }
  return true;
}

void Search::move(int32_t v, int32_t choice) {
  for (int32_t h : network.holds(v)) {
    const Hold &hold = network.problem.holds[h];
    profile.add(hold.begin, hold.end, hold.bytes[choice] - hold.bytes[chosen[v]]);
    counted += 8;
  }
  chosen[v] = choice;
}

void Search::push(int32_t v) {
  if (queued[v])
    return;
  queued[v] = true;
  queue.push_back(v);
}

void Search::pushNeighbours(int32_t v) {
  for (const HalfEdge *edge = network.begin(v); edge != network.end(v); ++edge)
    push(edge->other);
}

// Vertices of the queue, in order, take their best choices.
void Search::settle(int64_t moves) {
  for (size_t at = 0; at < queue.size(); ++at) {
    int32_t v = queue[at];
    queued[v] = false;
    if (moves <= 0)
      continue;
    scoresOf(v);
    int32_t now = chosen[v], best = now;
    for (int32_t i = 0; i < network.size(v); ++i)
      if (scores[i] < scores[best] - 1e-12 * std::abs(scores[best]) && fits(v, i))
        best = i;
    if (best == now)
      continue;
    --moves;
    total += scores[best] - scores[now];
    log.push_back({v, now});
    move(v, best);
    pushNeighbours(v);
  }
  queue.clear();
}

void Search::improve() {
  for (int32_t v = 0; v < network.vertices(); ++v)
    push(v);
  settle(20 * int64_t(network.vertices()) + 1000);
  log.clear();
}

// One move that saves bytes in a step, of those the one that costs least per byte.
bool Search::saveBytes(int32_t step) {
  int32_t best = -1, to = 0;
  double least = forbidden;
  for (const Hold &hold : network.problem.holds) {
    int32_t v = hold.vertex;
    if (hold.begin > step || hold.end <= step || hold.bytes[chosen[v]] == 0)
      continue;
    scoresOf(v);
    for (int32_t i = 0; i < network.size(v); ++i) {
      int64_t saved = 0;
      bool fit = true;
      for (int32_t h : network.holds(v)) {
        const Hold &other = network.problem.holds[h];
        int64_t less = other.bytes[chosen[v]] - other.bytes[i];
        if (other.begin <= step && step < other.end)
          saved += less;
        fit &= less >= 0 || profile.over(other.begin, other.end) - less <= 0;
      }
      if (saved <= 0 || !fit)
        continue;
      double needed = static_cast<double>(std::min(saved, profile.over()));
      double each = (scores[i] - scores[chosen[v]]) / needed;
      if (each < least) {
        least = each;
        best = v;
        to = i;
      }
    }
  }
  if (best < 0)
    return false;
  scoresOf(best);
  total += scores[to] - scores[chosen[best]];
  move(best, to);
  return true;
}

bool Search::repair() {
  for (int64_t left = 4 * int64_t(network.vertices()); left > 0 && over() > 0; --left)
    if (!saveBytes(profile.worstStep()))
      return false;
  return over() <= 0;
}

void Search::perturb(int64_t steps, const std::function<bool()> &stop) {
  int64_t end = counted + steps;
  for (int64_t round = 0; counted < end && network.vertices() > 0; ++round) {
    if (stop && round % 64 == 0 && stop())
      return;
    ++counted;
    int32_t v = static_cast<int32_t>(random() % network.vertices());
    if (network.size(v) < 2)
      continue;
    int32_t choice = static_cast<int32_t>(random() % (network.size(v) - 1));
    choice += choice >= chosen[v];
    if (!fits(v, choice))
      continue;
    double before = total;
    scoresOf(v);
    if (scores[choice] >= penalty)
      continue;
    log.push_back({v, chosen[v]});
    total += scores[choice] - scores[chosen[v]];
    move(v, choice);
    pushNeighbours(v);
    settle(50);
    if (total > before + 1e-12 * std::abs(before)) {
      for (size_t n = log.size(); n-- > 0;)
        move(log[n].vertex, log[n].choice);
      total = before;
    }
    log.clear();
  }
}

} // namespace tessera::solver
