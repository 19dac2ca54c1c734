// A choice for each vertex of a graph, with costs of choices and of pairs of them: the form that
// the search for shardings takes. Plain data.
//
//   two vertices with two choices each        costs        u: 0 3     v: 1 0
//   one edge, whose matrix is                 rows are u's choices    0 9
//                                             columns v's             9 0
//   least: u=0 v=0, 0 + 1 + 0 = 1
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tessera::solver {

// The cost of what may not be chosen, of a vertex or in a matrix.
inline constexpr double forbidden = std::numeric_limits<double>::infinity();

// Costs of pairs of choices, row after row. Edges share it.
struct Matrix {
  int32_t rows = 0, columns = 0;
  std::vector<double> costs;
};

// factor * matrix[choice of from][choice of to]. Two edges may join the same vertices; an edge may
// not join a vertex with itself.
struct Edge {
  int32_t from = 0, to = 0;
  int32_t matrix = 0;
  double factor = 1; // finite, at least 0
};

// Bytes that a vertex holds in the steps [begin, end), by its choice. A vertex may have several.
struct Hold {
  int32_t vertex = 0;
  int32_t begin = 0, end = 0;
  std::vector<int64_t> bytes; // at least 0
};

struct Graph {
  std::vector<std::vector<double>> costs; // of each vertex's choices: at least one, none is NaN
  std::vector<Edge> edges;
  std::vector<Matrix> matrices;
  std::vector<Hold> holds;

  int32_t vertices() const { return static_cast<int32_t>(costs.size()); }
};

// One number a vertex.
using Choices = std::vector<int32_t>;

// What choices cost: the sum in order of vertices, then of edges.
double costOf(const Graph &graph, const Choices &choices);
// Numbers in the edges' matrices, of each as often as an edge has it.
int64_t entriesOf(const Graph &graph);
// The most that is held in a step.
int64_t peakOf(const Graph &graph, const Choices &choices);
// Leaves only the steps that matter within this capacity or a larger one (Problem.h): for a graph that
// is solved more than once. Peaks are then of those steps.
void leaveOutSteps(Graph &graph, int64_t capacity);

} // namespace tessera::solver
