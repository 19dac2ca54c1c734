// A problem while it is made smaller: what Reduce.cpp goes over, and ReduceRules.cpp has the rules of.
#pragma once

#include "lib/solver/Reduce.h"

#include <array>
#include <deque>
#include <numeric>

namespace tessera::solver {

struct Reduction::State {
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
    std::vector<int32_t> follows = {}; // a choice of the problem, by that of the first neighbour
    // With two neighbours: the least of these sums.
    std::vector<double> costs = {};
    std::vector<int32_t> kept = {};
    int32_t matrices[2] = {}; // rows are the neighbours' choices, as their lists have them
    std::vector<int32_t> lists[2] = {};
  };

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
  static void excessOver(int32_t i, const std::vector<Rows> &edges, std::vector<double> &excess);
  bool noBetter(int32_t v, int32_t i, int32_t than, const std::vector<Rows> &edges, double excess);
  bool leaveOutDominated(int32_t v);
  bool bridge(int32_t v);
  void run();
  void makeCore();
};

} // namespace tessera::solver
