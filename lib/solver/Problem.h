// A graph on the inside of the solver: factors are part of matrices, and each step has a room of
// its own, for what vertices whose choice is known hold is taken off.
#pragma once

#include "lib/solver/Graph.h"

namespace tessera::solver {

struct Link {
  int32_t from = 0, to = 0;
  int32_t forward = 0, backward = 0; // matrices: rows are from's choices, and to's
};

struct Problem {
  std::vector<std::vector<double>> costs;
  std::vector<Link> links;
  std::vector<Hold> holds;   // each less the least of its bytes, which is always held
  std::vector<int64_t> room; // of each step; below zero where the least does not fit
  double constant = 0;       // to be added to the cost of everything

  int32_t vertices() const { return static_cast<int32_t>(costs.size()); }
};

// Takes the least of each hold off the room, and leaves out holds and steps that can't make
// anything too large:
//
//   step      0  1  2  3        one that has room for all that may be held there  (3)
//   room      9  4  6  9        one where no more is held than in the next, which has
//   a         |-----|           less room                                         (0)
//   b            |-----|        steps where the same is held are one              (2: in 1)
//
// kept: of each step that is left, its number before.
void leaveOutSteps(Problem &problem, std::vector<int32_t> &kept);
// Gives a problem these holds, within as much room at each step, and leaves out as above.
void setHolds(Problem &problem, std::vector<Hold> holds, int64_t capacity);

// Choices, as pairs of vertex and choice, that hold more in a step than there is room for, whatever the
// others choose; holds and room are as leaveOutSteps has them.
std::vector<std::pair<int32_t, int32_t>> tooLarge(const Problem &problem);

} // namespace tessera::solver
