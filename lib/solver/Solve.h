// The least-cost choices of a graph, or good ones and how far from the least they can be at most.
//
//   solver::Graph graph;
//   graph.costs = {{0, 3}, {1, 0}};
//   graph.matrices = {{2, 2, {0, 9, 9, 0}}};
//   graph.edges = {{0, 1, 0}};
//   solver::Solution best = solver::solve(graph, {}); // choices {0, 0}, cost 1, lowerBound 1
//
// The same graph and options give the same solution on every machine; a search is limited by steps
// (effort), not by a clock, unless asked for.
#pragma once

#include "lib/solver/Graph.h"

#include <functional>

namespace tessera::solver {

struct Options {
  int64_t capacity = 0; // bytes that no step may hold more of; 0: any
  int effort = 3;       // 1 to 9: four times the steps with each, twice for the largest
  double gap = 0;     // a solution that is proven to be within this fraction of the least is enough
  Choices start = {}; // choices to begin with, if any: the solution is never worse
  // Asked now and then: true ends the search with what there is. The solution then depends on when.
  std::function<bool()> stop = {};
};

enum class Status {
  optimal,    // proven, but for rounding: (cost - lowerBound) <= 1e-9 of their size
  feasible,   // cost and lowerBound say how far from the least it can be
  infeasible, // no choices are within the capacity, or everything has a forbidden pair
  unknown,    // none was found within the effort, and none was excluded
};

struct Solution {
  Status status = Status::unknown;
  Choices choices;       // with infeasible and unknown: those of the least peak found, or none
  double cost = 0;       // of the choices; forbidden with none
  double lowerBound = 0; // that nothing within the capacity is below
  int64_t peak = 0;      // bytes of the choices
  int64_t peakBound = 0; // that no choices' peak is below
};

// (cost - lowerBound) / cost: 0 where both are 0, 1 with no choices.
double gapOf(const Solution &solution);

Solution solve(const Graph &graph, const Options &options);

} // namespace tessera::solver
