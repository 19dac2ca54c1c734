#include "lib/solver/Reduce.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <numeric>

namespace tessera::solver {

namespace {

struct Node {
  std::vector<double> costs;
  std::vector<int32_t> kept; // of each choice, its number in the problem
  std::vector<int32_t> edges;
  std::vector<Hold> holds;
  bool gone = false;
};

struct Join {
  int32_t a, b;
  int32_t matrix; // rows are a's choices
  bool gone = false;
};

// How a vertex that was left out finds its choice.
struct Recovery {
  int32_t vertex;
  // By what the first neighbour chose; with no neighbour (-1) there is one.
  int32_t neighbours[2] = {-1, -1};
  std::vector<int32_t> follows =
      {}; // choice of the problem, by the first neighbour's of the problem
  // With two neighbours: the least of these sums.
  std::vector<double> costs = {};
  std::vector<int32_t> kept = {};
  int32_t matrices[2] = {}; // rows are the neighbours' choices, as their lists have them
  std::vector<int32_t> lists[2] = {};
};

} // namespace

struct Reduction::State {
  Matrices &matrices;
  int64_t limit;
  std::vector<Node> nodes;
  std::vector<Join> joins;
  std::vector<Recovery> recoveries;
  std::vector<int32_t> sizes; // choices of the problem's vertices
  bool possible = true;

  Problem core;
  std::vector<int32_t> stepNumbers, vertexNumbers;
  std::vector<std::vector<int32_t>> keptLists;

  // Vertices to look at; the first list's are cheap to try.
  static constexpr int levels = 3;
  std::array<std::deque<int32_t>, levels> queues;
  std::vector<int8_t> queued; // the level + 1
  int64_t spent = 0;

  State(const Problem &problem, Matrices &matrices, int64_t steps)
      : matrices(matrices), limit(matrices.steps() + steps) {
    core.room = problem.room;
    core.constant = problem.constant;
    nodes.resize(problem.costs.size());
    for (size_t v = 0; v < nodes.size(); ++v) {
      nodes[v].costs = problem.costs[v];
      nodes[v].kept.resize(problem.costs[v].size());
      std::iota(nodes[v].kept.begin(), nodes[v].kept.end(), 0);
      sizes.push_back(static_cast<int32_t>(problem.costs[v].size()));
    }
    for (const Hold &hold : problem.holds)
      nodes[hold.vertex].holds.push_back(hold);
    for (auto [v, choice] : tooLarge(problem))
      nodes[v].costs[choice] = forbidden;
    queued.assign(nodes.size(), 0);
    for (const Link &link : problem.links)
      addJoin(link.from, link.to, link.forward);
    for (int32_t v = 0; v < problem.vertices(); ++v)
      push(v, 0);
  }

  bool outOfSteps() const { return matrices.steps() + spent > limit; }

  void push(int32_t v, int level) {
    if (nodes[v].gone || (queued[v] && queued[v] <= level + 1))
      return;
    queued[v] = static_cast<int8_t>(level + 1);
    queues[level].push_back(v);
  }

  // The matrix with v's choices as rows.
  int32_t matrixFrom(const Join &join, int32_t v) {
    return join.a == v ? join.matrix : matrices.transposed(join.matrix);
  }
  static int32_t otherEnd(const Join &join, int32_t v) { return join.a == v ? join.b : join.a; }

  void removeJoin(int32_t number) {
    Join &join = joins[number];
    join.gone = true;
    std::erase(nodes[join.a].edges, number);
    std::erase(nodes[join.b].edges, number);
    push(join.a, 0);
    push(join.b, 0);
  }

  void addCosts(int32_t v, const std::vector<double> &costs) {
    for (size_t i = 0; i < costs.size(); ++i)
      nodes[v].costs[i] += costs[i];
  }

  // Joins a and b by a matrix; one that they have already is added to.
  void addJoin(int32_t a, int32_t b, int32_t matrix) {
    int32_t few = nodes[a].edges.size() < nodes[b].edges.size() ? a : b;
    int32_t found = -1;
    for (int32_t number : nodes[few].edges)
      if (otherEnd(joins[number], few) == (few == a ? b : a))
        found = number;
    if (found >= 0)
      matrix = matrices.sum(matrix, matrixFrom(joins[found], a));
    const Matrices::Parts &parts = matrices.parts(matrix);
    addCosts(a, parts.rows);
    addCosts(b, parts.columns);
    if (parts.zero) {
      if (found >= 0)
        removeJoin(found);
    } else if (found >= 0) {
      joins[found].a = a;
      joins[found].b = b;
      joins[found].matrix = parts.rest;
    } else {
      int32_t number = static_cast<int32_t>(joins.size());
      joins.push_back({a, b, parts.rest});
      nodes[a].edges.push_back(number);
      nodes[b].edges.push_back(number);
    }
    push(a, 0);
    push(b, 0);
  }

  // Leaves only these choices.
  void keepChoices(int32_t v, const std::vector<int32_t> &chosen) {
    Node &node = nodes[v];
    std::vector<int32_t> edges = node.edges;
    auto pick = [&](auto &list) {
      auto all = std::move(list);
      list.clear();
      for (int32_t i : chosen)
        list.push_back(all[i]);
    };
    pick(node.costs);
    pick(node.kept);
    for (Hold &hold : node.holds)
      pick(hold.bytes);
    std::vector<std::pair<int32_t, int32_t>> again;
    for (int32_t number : edges) {
      Join join = joins[number];
      int32_t matrix = matrices.pickedRows(matrixFrom(join, v), chosen);
      again.push_back({otherEnd(join, v), matrix});
      removeJoin(number);
    }
    for (auto [other, matrix] : again)
      addJoin(v, other, matrix);
    push(v, 0);
  }

  void leaveOut(Recovery recovery) {
    nodes[recovery.vertex].gone = true;
    recoveries.push_back(std::move(recovery));
  }

  bool leaveOutForbidden(int32_t v);
  bool settle(int32_t v);
  bool follow(int32_t v);
  bool followBest(int32_t v);
  bool followFunction(int32_t v);
  void merge(int32_t v, int32_t into, const std::vector<int32_t> &function);
  struct Rows {
    const Matrix *matrix;
    std::vector<int32_t> least; // of each row the column where it is least
    double operator()(int32_t row, int32_t column) const {
      return matrix->costs[int64_t(row) * matrix->columns + column];
    }
  };
  std::vector<Rows> rowsOf(int32_t v);
  bool noBetter(int32_t v, int32_t i, int32_t than, const std::vector<Rows> &edges);
  bool leaveOutDominated(int32_t v);
  bool bridge(int32_t v);
  void run();
  void makeCore();
};

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

// The edges of a vertex with its choices as rows.
std::vector<Reduction::State::Rows> Reduction::State::rowsOf(int32_t v) {
  std::vector<Rows> all;
  for (int32_t number : nodes[v].edges) {
    const Matrix &matrix = matrices[matrixFrom(joins[number], v)];
    Rows &rows = all.emplace_back(Rows{&matrix, {}});
    for (int32_t i = 0; i < matrix.rows; ++i) {
      auto row = matrix.costs.begin() + int64_t(i) * matrix.columns;
      rows.least.push_back(static_cast<int32_t>(std::min_element(row, row + matrix.columns) - row));
    }
    spent += int64_t(matrix.rows) * matrix.columns;
  }
  return all;
}

bool Reduction::State::noBetter(int32_t v, int32_t i, int32_t than,
                                const std::vector<Rows> &edges) {
  const Node &node = nodes[v];
  double most = node.costs[i] - node.costs[than];
  if (most < 0)
    return false;
  for (const Hold &hold : node.holds)
    if (hold.bytes[than] > hold.bytes[i])
      return false;
  // Where this choice is at its best the other mostly is not: that settles most pairs.
  double more = 0;
  for (const Rows &edge : edges)
    if (double best = edge(i, edge.least[i]); best != forbidden)
      more += edge(than, edge.least[i]) - best;
  spent += int64_t(edges.size());
  if (more > most)
    return false;
  for (const Rows &edge : edges) {
    int32_t columns = edge.matrix->columns;
    const double *here = &edge.matrix->costs[int64_t(i) * columns];
    const double *there = &edge.matrix->costs[int64_t(than) * columns];
    double worst = -forbidden;
    for (int32_t k = 0; k < columns; ++k) {
      if (there[k] == forbidden && here[k] == forbidden)
        continue;
      worst = std::max(worst, there[k] - here[k]);
      if (worst > most) {
        spent += k + 1;
        return false;
      }
    }
    spent += columns;
    most -= worst;
  }
  return true;
}

bool Reduction::State::leaveOutDominated(int32_t v) {
  int32_t size = static_cast<int32_t>(nodes[v].costs.size());
  std::vector<Rows> edges = rowsOf(v);
  std::vector<int32_t> chosen;
  std::vector<bool> out(size);
  for (int32_t i = 0; i < size && !outOfSteps(); ++i)
    for (int32_t than = 0; than < size && !out[i]; ++than)
      if (than != i && !out[than] && noBetter(v, i, than, edges))
        out[i] = true;
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

void Reduction::State::run() {
  while (possible) {
    int level = 0;
    while (level < levels && queues[level].empty())
      ++level;
    if (level == levels)
      return;
    int32_t v = queues[level].front();
    queues[level].pop_front();
    if (queued[v] != level + 1)
      continue;
    queued[v] = 0;
    if (nodes[v].gone)
      continue;
    bool changed = level == 0   ? leaveOutForbidden(v) || settle(v) ||
                                      (nodes[v].edges.size() == 1 && followBest(v))
                   : level == 1 ? followFunction(v) || leaveOutDominated(v)
                                : bridge(v);
    if (!changed && level + 1 < levels)
      push(v, level + 1);
  }
}

void Reduction::State::makeCore() {
  std::vector<int32_t> number(nodes.size(), -1);
  for (size_t v = 0; v < nodes.size(); ++v) {
    Node &node = nodes[v];
    if (node.gone)
      continue;
    number[v] = core.vertices();
    vertexNumbers.push_back(static_cast<int32_t>(v));
    for (Hold &hold : node.holds) {
      core.holds.push_back(std::move(hold));
      core.holds.back().vertex = core.vertices();
    }
    core.costs.push_back(node.costs);
    keptLists.push_back(node.kept);
  }
  for (const Join &join : joins)
    if (!join.gone)
      core.links.push_back(
          {number[join.a], number[join.b], join.matrix, matrices.transposed(join.matrix)});
  leaveOutSteps(core, stepNumbers);
}

Reduction::Reduction(const Problem &problem, Matrices &matrices, int64_t steps)
    : state(std::make_unique<State>(problem, matrices, steps)) {
  state->run();
  if (state->possible)
    state->makeCore();
}

Reduction::~Reduction() = default;
bool Reduction::possible() const { return state->possible; }
const Problem &Reduction::core() const { return state->core; }
const std::vector<int32_t> &Reduction::steps() const { return state->stepNumbers; }
const std::vector<int32_t> &Reduction::vertices() const { return state->vertexNumbers; }
const std::vector<std::vector<int32_t>> &Reduction::kept() const { return state->keptLists; }

Choices Reduction::expanded(const Choices &core) const {
  Choices choices(state->nodes.size(), -1);
  for (size_t v = 0; v < core.size(); ++v)
    choices[state->vertexNumbers[v]] = state->keptLists[v][core[v]];
  for (auto at = state->recoveries.rbegin(); at != state->recoveries.rend(); ++at) {
    if (at->neighbours[1] < 0) {
      choices[at->vertex] = at->follows[at->neighbours[0] < 0 ? 0 : choices[at->neighbours[0]]];
      continue;
    }
    const double *rows[2];
    for (int end : {0, 1}) {
      const std::vector<int32_t> &list = at->lists[end];
      int64_t row =
          std::find(list.begin(), list.end(), choices[at->neighbours[end]]) - list.begin();
      const Matrix &matrix = state->matrices[at->matrices[end]];
      rows[end] = &matrix.costs[row * matrix.columns];
    }
    size_t best = 0;
    auto cost = [&](size_t k) { return rows[0][k] + at->costs[k] + rows[1][k]; };
    for (size_t k = 1; k < at->kept.size(); ++k)
      if (cost(k) < cost(best))
        best = k;
    choices[at->vertex] = at->kept[best];
  }
  return choices;
}

} // namespace tessera::solver
