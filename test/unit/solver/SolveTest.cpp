// Solutions against all choices that there are, and on graphs whose structure makes them easy.
#include "lib/solver/Solve.h"

#include <gtest/gtest.h>

#include <random>

using namespace tessera::solver;

namespace {

struct Random {
  std::mt19937_64 engine;
  int32_t below(int32_t bound) { return static_cast<int32_t>(engine() % bound); }
};

Matrix randomMatrix(Random &random, int32_t rows, int32_t columns, int32_t most, bool forbids) {
  Matrix matrix{rows, columns, {}};
  for (int32_t i = 0; i < rows * columns; ++i)
    matrix.costs.push_back(forbids && random.below(4) == 0 ? forbidden : random.below(most));
  return matrix;
}

// A few vertices; parallel edges, shared matrices, factors and forbidden pairs among them.
Graph randomGraph(Random &random, bool holds) {
  Graph graph;
  int32_t count = 1 + random.below(7);
  for (int32_t v = 0; v < count; ++v) {
    std::vector<double> costs(1 + random.below(4));
    for (double &cost : costs)
      cost = random.below(12) == 0 ? forbidden : random.below(20);
    graph.costs.push_back(costs);
  }
  bool forbids = random.below(2);
  for (int32_t n = random.below(2 * count); n > 0 && count > 1; --n) {
    int32_t a = random.below(count), b = random.below(count - 1);
    b += b >= a;
    int32_t rows = static_cast<int32_t>(graph.costs[a].size());
    int32_t columns = static_cast<int32_t>(graph.costs[b].size());
    int32_t id = -1;
    for (size_t m = 0; m < graph.matrices.size() && random.below(2); ++m)
      if (graph.matrices[m].rows == rows && graph.matrices[m].columns == columns)
        id = static_cast<int32_t>(m);
    if (id < 0) {
      id = static_cast<int32_t>(graph.matrices.size());
      graph.matrices.push_back(randomMatrix(random, rows, columns, 15, forbids));
    }
    graph.edges.push_back({a, b, id, random.below(3) * 0.5});
  }
  for (int32_t n = holds ? random.below(2 * count) : 0; n > 0; --n) {
    Hold hold{random.below(count), random.below(6), 0, {}};
    hold.end = hold.begin + random.below(5);
    for (size_t i = 0; i < graph.costs[hold.vertex].size(); ++i)
      hold.bytes.push_back(random.below(10));
    graph.holds.push_back(hold);
  }
  return graph;
}

struct Least {
  double cost = forbidden;
  int64_t peak = INT64_MAX; // of any choices that are allowed
};

Least leastOfAll(const Graph &graph, int64_t capacity) {
  Least least;
  Choices choices(graph.vertices());
  while (true) {
    double cost = costOf(graph, choices);
    int64_t peak = peakOf(graph, choices);
    if (cost != forbidden)
      least.peak = std::min(least.peak, peak);
    if (capacity == 0 || peak <= capacity)
      least.cost = std::min(least.cost, cost);
    int32_t v = 0;
    while (v < graph.vertices() && ++choices[v] == int32_t(graph.costs[v].size()))
      choices[v++] = 0;
    if (v == graph.vertices())
      return least;
  }
}

void expectSolved(const Graph &graph, int64_t capacity) {
  Least least = leastOfAll(graph, capacity);
  Solution solution = solve(graph, {.capacity = capacity});
  if (least.cost == forbidden) {
    EXPECT_EQ(solution.status, Status::infeasible);
    if (least.peak != INT64_MAX) {
      EXPECT_LE(solution.peakBound, least.peak);
      EXPECT_GT(solution.peakBound, capacity);
    }
    return;
  }
  ASSERT_EQ(solution.status, Status::optimal);
  EXPECT_NEAR(solution.cost, least.cost, 1e-9 * (1 + least.cost));
  EXPECT_NEAR(solution.lowerBound, least.cost, 1e-6 * (1 + least.cost));
  EXPECT_EQ(solution.cost, costOf(graph, solution.choices));
  EXPECT_EQ(solution.peak, peakOf(graph, solution.choices));
  if (capacity) {
    EXPECT_LE(solution.peak, capacity);
  }
}

TEST(Solve, AnyChoicesOfSmallGraphs) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{std::mt19937_64(seed)};
    expectSolved(randomGraph(random, false), 0);
  }
}

TEST(Solve, AnyChoicesWithinACapacity) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{std::mt19937_64(seed)};
    Graph graph = randomGraph(random, true);
    expectSolved(graph, 1 + random.below(25));
  }
}

} // namespace
