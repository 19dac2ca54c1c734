// Graphs whose structure makes them easy, large ones among them; and that solutions don't vary.
#include "lib/solver/Solve.h"
#include "lib/solver/Tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tessera::solver;

namespace {

struct Maker {
  std::mt19937_64 engine;
  Graph graph = {};

  int32_t below(int32_t bound) { return static_cast<int32_t>(engine() % bound); }
  void vertices(int32_t count, int32_t choices) {
    for (int32_t v = 0; v < count; ++v) {
      graph.costs.emplace_back(choices);
      for (double &cost : graph.costs.back())
        cost = below(1000);
    }
  }
  int32_t matrix(int32_t size) {
    Matrix matrix{size, size, std::vector<double>(size * size)};
    for (double &cost : matrix.costs)
      cost = below(1000);
    graph.matrices.push_back(std::move(matrix));
    return static_cast<int32_t>(graph.matrices.size()) - 1;
  }
  void edge(int32_t from, int32_t to, int32_t matrix) { graph.edges.push_back({from, to, matrix}); }
};

// The least cost of a chain 0 - 1 - 2 .., by dynamic programming.
double leastOfChain(const Graph &graph) {
  std::vector<double> least = graph.costs[0];
  for (const Edge &edge : graph.edges) {
    const Matrix &matrix = graph.matrices[edge.matrix];
    std::vector<double> next(graph.costs[edge.to].size(), forbidden);
    for (size_t i = 0; i < least.size(); ++i)
      for (size_t j = 0; j < next.size(); ++j)
        next[j] = std::min(next[j], least[i] + matrix.costs[i * next.size() + j]);
    for (size_t j = 0; j < next.size(); ++j)
      next[j] += graph.costs[edge.to][j];
    least = next;
  }
  return *std::min_element(least.begin(), least.end());
}

TEST(Structure, LongChain) {
  Maker maker{std::mt19937_64(1)};
  maker.vertices(2000, 60);
  for (int32_t v = 0; v + 1 < 2000; ++v)
    maker.edge(v, v + 1, v < 10 ? maker.matrix(60) : v % 10);
  Solution solution = solve(maker.graph, {.effort = 1});
  EXPECT_EQ(solution.status, Status::optimal);
  EXPECT_EQ(solution.cost, leastOfChain(maker.graph));
}

// Each vertex hangs on one before it: costs of leaves go to the root exactly.
TEST(Structure, Tree) {
  Maker maker{std::mt19937_64(2)};
  maker.vertices(1000, 8);
  for (int32_t v = 1; v < 1000; ++v)
    maker.edge(maker.below(v), v, maker.matrix(8));
  std::vector<std::vector<double>> least = maker.graph.costs;
  for (int32_t v = 999; v > 0; --v) {
    const Edge &edge = maker.graph.edges[v - 1];
    const Matrix &matrix = maker.graph.matrices[edge.matrix];
    for (int32_t i = 0; i < 8; ++i) {
      double best = forbidden;
      for (int32_t j = 0; j < 8; ++j)
        best = std::min(best, matrix.costs[i * 8 + j] + least[v][j]);
      least[edge.from][i] += best;
    }
  }
  Solution solution = solve(maker.graph, {.effort = 1});
  EXPECT_EQ(solution.status, Status::optimal);
  EXPECT_EQ(solution.cost, *std::min_element(least[0].begin(), least[0].end()));
}

// A layer of a program, many times: a ring of vertices that all hang on the next layer's.
Graph ladder(int32_t layers) {
  Maker maker{std::mt19937_64(3)};
  maker.vertices(3 * layers, 6);
  int32_t across[3] = {maker.matrix(6), maker.matrix(6), maker.matrix(6)};
  int32_t along[3] = {maker.matrix(6), maker.matrix(6), maker.matrix(6)};
  for (int32_t layer = 0; layer < layers; ++layer)
    for (int32_t n = 0; n < 3; ++n) {
      maker.edge(3 * layer + n, 3 * layer + (n + 1) % 3, across[n]);
      if (layer + 1 < layers)
        maker.edge(3 * layer + n, 3 * layer + 3 + n, along[n]);
    }
  for (int32_t v = 0; v < 3 * layers; ++v)
    maker.graph.holds.push_back({v, v / 3, v / 3 + 2, {1, 2, 3, 4, 5, 6}});
  return maker.graph;
}

// The least cost of the ladder, by dynamic programming over all choices of a layer.
double leastOfLadder(const Graph &graph, int32_t layers) {
  auto matrixCost = [&](int32_t number, int32_t i, int32_t j) {
    return graph.matrices[number].costs[i * 6 + j];
  };
  std::vector<double> least(216, 0);
  for (int32_t layer = 0; layer < layers; ++layer) {
    std::vector<double> next(216, forbidden);
    for (int32_t now = 0; now < 216; ++now) {
      int32_t c[3] = {now % 6, now / 6 % 6, now / 36};
      double own = 0;
      for (int32_t n = 0; n < 3; ++n)
        own += graph.costs[3 * layer + n][c[n]] + matrixCost(n, c[n], c[(n + 1) % 3]);
      for (int32_t before = 0; before < 216; ++before) {
        double step = matrixCost(3, before % 6, c[0]) + matrixCost(4, before / 6 % 6, c[1]) +
                      matrixCost(5, before / 36, c[2]);
        next[now] = std::min(next[now], least[before] + own + (layer ? step : 0));
      }
    }
    least = next;
  }
  return *std::min_element(least.begin(), least.end());
}

TEST(Structure, LayersOfALadder) {
  Graph graph = ladder(20);
  double least = leastOfLadder(graph, 20);
  Solution solution = solve(graph, {.effort = 2});
  EXPECT_LE(solution.lowerBound, least);
  EXPECT_GE(solution.cost, least);
  EXPECT_LE(gapOf(solution), 0.05);
}

// One takes what there is at its step, so that the next can't; that one's next must then, and so on: each
// reduction finds two more.
Graph rowOfNeighbours(int32_t count) {
  Graph graph;
  graph.matrices = {{2, 2, {forbidden, 0, 0, 5}}, {2, 2, {0, 1, 2, 0}}};
  for (int32_t v = 0; v < count; ++v) {
    graph.costs.push_back({v == 0 ? forbidden : 3, double(v % 7)});
    graph.holds.push_back({v, v / 2, v / 2 + 1, {0, 6}});
    if (v > 0)
      graph.edges.push_back({v - 1, v, v % 2 ? 1 : 0});
  }
  return graph;
}

TEST(Structure, WhereRoomIsLostOneByOne) {
  constexpr int32_t kFew = 100, kMany = 3000;
  auto expected = [](const Graph &graph) {
    Choices choices;
    for (int32_t v = 0; v < graph.vertices(); ++v)
      choices.push_back(v % 2 ? 0 : 1);
    return choices;
  };
  Graph few = rowOfNeighbours(kFew);
  Solution solution = solve(few, {.capacity = 10, .effort = 1});
  EXPECT_EQ(solution.status, Status::optimal);
  EXPECT_EQ(solution.choices, expected(few));
  // Of many there are not the steps to go on like this: the search ends, with a bound that holds.
  constexpr int64_t kSteps = 10'000'000;
  Graph many = rowOfNeighbours(kMany);
  Matrices matrices;
  Problem problem;
  problem.costs = many.costs;
  for (const Edge &edge : many.edges) {
    int32_t id = matrices.add(many.matrices[edge.matrix]);
    problem.links.push_back({edge.from, edge.to, id, matrices.transposed(id)});
  }
  setHolds(problem, many.holds, 10);
  Tree tree(matrices, {.steps = kSteps});
  EXPECT_LE(tree.explore(problem), costOf(many, expected(many)));
  EXPECT_GT(tree.stepsLeft(), -kSteps);
}

TEST(Structure, Clique) {
  Maker maker{std::mt19937_64(4)};
  maker.vertices(7, 4);
  for (int32_t a = 0; a < 7; ++a)
    for (int32_t b = 0; b < a; ++b)
      maker.edge(a, b, maker.matrix(4));
  double least = forbidden;
  Choices choices(7);
  for (int32_t code = 0; code < 1 << 14; ++code) {
    for (int32_t v = 0; v < 7; ++v)
      choices[v] = code >> (2 * v) & 3;
    least = std::min(least, costOf(maker.graph, choices));
  }
  Solution solution = solve(maker.graph, {});
  EXPECT_EQ(solution.status, Status::optimal);
  EXPECT_EQ(solution.cost, least);
}

TEST(Structure, TheSameGraphHasTheSameSolution) {
  Graph graph = ladder(60);
  Solution first = solve(graph, {.capacity = 12, .effort = 1});
  Solution again = solve(graph, {.capacity = 12, .effort = 1});
  ASSERT_EQ(first.status, Status::feasible);
  EXPECT_EQ(first.choices, again.choices);
  EXPECT_EQ(first.lowerBound, again.lowerBound);
}

TEST(Structure, ABetterStartIsKept) {
  Graph graph = ladder(60);
  Solution good = solve(graph, {.capacity = 12, .effort = 2});
  Solution from = solve(graph, {.capacity = 12, .effort = 1, .start = good.choices});
  EXPECT_LE(from.cost, good.cost);
}

TEST(Structure, ALeastPeakIsFoundWhereTheCapacityIsTooSmall) {
  Graph graph = ladder(10);
  graph.matrices[3].costs.assign(36, forbidden);
  for (int32_t i = 0; i < 6; ++i) // 6 bytes after 1, and 1 after 6
    graph.matrices[3].costs[i * 6 + 5 - i] = 0;
  Solution solution = solve(graph, {.capacity = 10});
  EXPECT_EQ(solution.status, Status::infeasible);
  EXPECT_EQ(solution.peak, 11); // of two layers: 2 * (1 + 1) + 7
  EXPECT_EQ(solution.peakBound, 11);
  EXPECT_EQ(peakOf(graph, solution.choices), 11);
}

TEST(Structure, StopEndsTheSearchWithWhatThereIs) {
  Graph graph = ladder(200);
  Solution solution = solve(graph, {.effort = 9, .stop = [] { return true; }});
  ASSERT_EQ(solution.status, Status::feasible);
  EXPECT_LE(solution.lowerBound, solution.cost);
}

} // namespace
