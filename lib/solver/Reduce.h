// Makes a problem smaller without losing its least cost.
//
//   a choice that holds more than there is room for beside the least of all others: out
//   a choice that another is no worse than, in cost and bytes, whatever the neighbours choose: out
//   a vertex with one choice, or none that depends on others: its costs go to its neighbours
//   a matrix that is a cost of each end: none
//   two edges between the same vertices: one
//   a vertex whose choice follows from one neighbour's (one may be chosen, or one is best, and
//     holds the least): its costs, edges and holds go to the neighbour
//   a vertex with two neighbours, and nothing held: an edge between them, the least over its
//     choices of both edges and its costs
#pragma once

#include "lib/solver/Matrices.h"
#include "lib/solver/Problem.h"

#include <memory>

namespace tessera::solver {

class Reduction {
public:
  // steps: at most about that many for products of matrices and comparisons of choices.
  Reduction(const Problem &problem, Matrices &matrices, int64_t steps);
  ~Reduction();

  // False where every choice has a forbidden cost.
  bool possible() const;
  // What is left; its holds and room are as leaveOutSteps has them.
  const Problem &core() const;
  // Of each step of the core, its number in the problem.
  const std::vector<int32_t> &steps() const;
  // Of the core's vertices: the problem's vertex, and choices in terms of it.
  const std::vector<int32_t> &vertices() const;
  const std::vector<std::vector<int32_t>> &kept() const;

  // The choices of the problem, of those of the core: the best for what was left out.
  Choices expanded(const Choices &core) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tessera::solver
