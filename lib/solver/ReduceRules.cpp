// The rules by which vertices and choices are left out (Reduce.h); each says whether it changed something.
#include "lib/solver/ReduceState.h"

#include <algorithm>

namespace tessera::solver {

bool Reduction::State::leaveOutForbidden(int32_t v) {
  const std::vector<double> &costs = nodes[v].costs;
  std::vector<int32_t> chosen;
  for (size_t i = 0; i < costs.size(); ++i)
    if (costs[i] != forbidden)
      chosen.push_back(static_cast<int32_t>(i));
  if (chosen.size() == costs.size())
    return false;
  if (chosen.empty())
    possible = false;
  else
    keepChoices(v, chosen);
  return true;
}

// A vertex with one choice, or with no edges and a choice that is best in all.
bool Reduction::State::settle(int32_t v) {
  Node &node = nodes[v];
  if (node.costs.size() == 1) {
    while (!node.edges.empty()) {
      Join join = joins[node.edges.back()];
      removeJoin(node.edges.back());
      addCosts(otherEnd(join, v), matrices[matrixFrom(join, v)].costs);
    }
  } else {
    return node.edges.empty() && followBest(v);
  }
  core.constant += node.costs[0];
  for (Hold &hold : node.holds)
    for (int32_t t = hold.begin; t < hold.end; ++t)
      core.room[t] -= hold.bytes[0];
  leaveOut({.vertex = v, .follows = {node.kept[0]}});
  return true;
}

// A vertex with at most one neighbour, where for each choice of that one the cheapest holds least.
bool Reduction::State::followBest(int32_t v) {
  Node &node = nodes[v];
  int32_t size = static_cast<int32_t>(node.costs.size());
  const Join *join = node.edges.empty() ? nullptr : &joins[node.edges[0]];
  const Matrix *matrix = join ? &matrices[matrices.transposed(matrixFrom(*join, v))] : nullptr;
  int32_t rows = matrix ? matrix->rows : 1;
  spent += int64_t(rows) * size;
  std::vector<int32_t> best(rows);
  for (int32_t i = 0; i < rows; ++i) {
    const double *row = matrix ? &matrix->costs[int64_t(i) * size] : nullptr;
    auto cost = [&](int32_t k) { return node.costs[k] + (row ? row[k] : 0); };
    auto smaller = [&](int32_t k, int32_t than) {
      if (double a = cost(k), b = cost(than); a != b)
        return a < b;
      int64_t more = 0;
      for (const Hold &hold : node.holds)
        more += hold.bytes[k] - hold.bytes[than];
      return more < 0;
    };
    for (int32_t k = 1; k < size; ++k)
      if (smaller(k, best[i]))
        best[i] = k;
    for (const Hold &hold : node.holds)
      for (int32_t k = 0; k < size; ++k)
        if (hold.bytes[k] < hold.bytes[best[i]] && cost(k) != forbidden)
          return false;
  }
  if (join) {
    merge(v, otherEnd(*join, v), best);
  } else {
    keepChoices(v, best);
    settle(v);
  }
  return true;
}

// Each choice of a neighbour allows one choice here.
bool Reduction::State::followFunction(int32_t v) {
  Node &node = nodes[v];
  for (int32_t number : node.edges) {
    const Join join = joins[number];
    int32_t other = otherEnd(join, v);
    const std::vector<int32_t> &function =
        matrices.functionOf(matrices.transposed(matrixFrom(join, v)));
    if (function.empty())
      continue;
    // Its matrices get as many rows as the neighbour has choices.
    if (function.size() > 2 * node.costs.size() && node.edges.size() > 3)
      continue;
    merge(v, other, std::vector<int32_t>(function));
    return true;
  }
  return false;
}

void Reduction::State::merge(int32_t v, int32_t into, const std::vector<int32_t> &function) {
  Node &node = nodes[v], &other = nodes[into];
  std::vector<std::pair<int32_t, int32_t>> again;
  std::vector<double> costs(function.size());
  for (size_t i = 0; i < function.size(); ++i)
    costs[i] = node.costs[function[i]];
  while (!node.edges.empty()) {
    int32_t number = node.edges.front();
    const Join join = joins[number];
    int32_t end = otherEnd(join, v), matrix = matrixFrom(join, v);
    removeJoin(number);
    if (end == into) {
      const Matrix &between = matrices[matrix];
      for (size_t i = 0; i < function.size(); ++i)
        costs[i] += between.costs[int64_t(function[i]) * between.columns + i];
    } else {
      again.push_back({end, matrices.pickedRows(matrix, function)});
    }
  }
  addCosts(into, costs);
  for (auto [end, matrix] : again)
    addJoin(into, end, matrix);
  for (Hold &hold : node.holds) {
    Hold moved{into, hold.begin, hold.end, {}};
    for (int32_t k : function)
      moved.bytes.push_back(hold.bytes[k]);
    other.holds.push_back(std::move(moved));
  }
  Recovery recovery{.vertex = v, .neighbours = {into, -1}};
  recovery.follows.assign(sizes[into], -1);
  for (size_t i = 0; i < function.size(); ++i)
    recovery.follows[other.kept[i]] = node.kept[function[i]];
  leaveOut(std::move(recovery));
  push(into, 0);
}

namespace {

constexpr int32_t kLanes = 8; // that are compared at once

int32_t firstLeast(const double *row, int32_t count) {
  double lanes[kLanes];
  std::fill(lanes, lanes + kLanes, forbidden);
  int32_t k = 0;
  for (; k + kLanes <= count; k += kLanes)
    for (int32_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = row[k + lane] < lanes[lane] ? row[k + lane] : lanes[lane];
  double least = *std::min_element(lanes, lanes + kLanes);
  for (; k < count; ++k)
    least = std::min(least, row[k]);
  return static_cast<int32_t>(std::find(row, row + count, least) - row);
}

// How much more the one costs; nothing where neither is allowed.
double moreOf(double there, double here) {
  return there == forbidden && here == forbidden ? -forbidden : there - here;
}

// The most that `there` is above `here`; some of it, where that is above `most`. `seen`: in how many columns
// that was found.
double mostAbove(const double *there, const double *here, int32_t columns, double most,
                 int32_t &seen) {
  double worst = -forbidden;
  int32_t k = 0;
  for (; k + kLanes <= columns && worst <= most; k += kLanes) {
    double lanes[kLanes];
    for (int32_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = moreOf(there[k + lane], here[k + lane]);
    double together = *std::max_element(lanes, lanes + kLanes);
    if (together > most)
      break;
    worst = std::max(worst, together);
  }
  for (; k < columns && worst <= most; ++k)
    worst = std::max(worst, moreOf(there[k], here[k]));
  seen = k;
  return worst;
}

} // namespace

// The edges of a vertex with its choices as rows.
std::vector<Reduction::State::Rows> Reduction::State::rowsOf(int32_t v) {
  std::vector<Rows> all;
  for (int32_t number : nodes[v].edges) {
    const Matrix &matrix = matrices[matrixFrom(joins[number], v)];
    Rows &rows = all.emplace_back(Rows{&matrix, {}});
    for (int32_t i = 0; i < matrix.rows; ++i) {
      auto row = matrix.costs.begin() + int64_t(i) * matrix.columns;
      rows.least.push_back(firstLeast(&*row, matrix.columns));
    }
    spent += int64_t(matrix.rows) * matrix.columns;
  }
  return all;
}

// By how much each choice is worse than `i` in those columns where that is at its best.
void Reduction::State::excessOver(int32_t i, const std::vector<Rows> &edges,
                                  std::vector<double> &excess) {
  std::fill(excess.begin(), excess.end(), 0);
  for (const Rows &edge : edges) {
    double best = edge(i, edge.least[i]);
    if (best == forbidden)
      continue;
    const double *there = &edge.matrix->costs[edge.least[i]];
    for (size_t than = 0; than < excess.size(); ++than)
      excess[than] += there[than * size_t(edge.matrix->columns)] - best;
  }
}

bool Reduction::State::noBetter(int32_t v, int32_t i, int32_t than, const std::vector<Rows> &edges,
                                double excess) {
  const Node &node = nodes[v];
  double most = node.costs[i] - node.costs[than];
  if (most < 0)
    return false;
  for (const Hold &hold : node.holds)
    if (hold.bytes[than] > hold.bytes[i])
      return false;
  // Where this choice is at its best the other mostly is not: that settles most pairs.
  spent += int64_t(edges.size());
  if (excess > most)
    return false;
  for (const Rows &edge : edges) {
    int32_t columns = edge.matrix->columns, seen = 0;
    const double *here = &edge.matrix->costs[int64_t(i) * columns];
    const double *there = &edge.matrix->costs[int64_t(than) * columns];
    double worst = mostAbove(there, here, columns, most, seen);
    spent += seen;
    if (worst > most)
      return false;
    most -= worst;
  }
  return true;
}

bool Reduction::State::leaveOutDominated(int32_t v) {
  int32_t size = static_cast<int32_t>(nodes[v].costs.size());
  std::vector<Rows> edges = rowsOf(v);
  std::vector<int32_t> chosen;
  std::vector<bool> out(size);
  std::vector<double> excess(size);
  for (int32_t i = 0; i < size && !outOfSteps(); ++i) {
    excessOver(i, edges, excess);
    for (int32_t than = 0; than < size && !out[i]; ++than)
      if (than != i && !out[than] && noBetter(v, i, than, edges, excess[than]))
        out[i] = true;
  }
  for (int32_t i = 0; i < size; ++i)
    if (!out[i])
      chosen.push_back(i);
  if (chosen.size() == out.size())
    return false;
  keepChoices(v, chosen);
  return true;
}

bool Reduction::State::bridge(int32_t v) {
  Node &node = nodes[v];
  if (node.edges.size() != 2 || outOfSteps())
    return false;
  const Join first = joins[node.edges[0]], second = joins[node.edges[1]];
  int32_t a = otherEnd(first, v), b = otherEnd(second, v);
  // What holds more than the least must not be better for any pair of choices.
  int32_t left = matrices.transposed(matrixFrom(first, v)), right = matrixFrom(second, v);
  int32_t product = matrices.product(left, node.costs, right);
  if (!node.holds.empty()) {
    std::vector<double> costs = node.costs;
    for (const Hold &hold : node.holds) {
      int64_t least = *std::min_element(hold.bytes.begin(), hold.bytes.end());
      for (size_t k = 0; k < costs.size(); ++k)
        if (hold.bytes[k] > least)
          costs[k] = forbidden;
    }
    if (matrices.product(left, costs, right) != product)
      return false;
    for (const Hold &hold : node.holds)
      for (int32_t t = hold.begin; t < hold.end; ++t)
        core.room[t] -= *std::min_element(hold.bytes.begin(), hold.bytes.end());
    node.costs = costs;
  }
  leaveOut({.vertex = v,
            .neighbours = {a, b},
            .costs = node.costs,
            .kept = node.kept,
            .matrices = {left, matrices.transposed(right)},
            .lists = {nodes[a].kept, nodes[b].kept}});
  while (!node.edges.empty())
    removeJoin(node.edges.back());
  addJoin(a, b, product);
  return true;
}

} // namespace tessera::solver
