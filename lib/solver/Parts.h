// Better choices of a large problem by those of its parts: all but some hundred vertices near each
// other keep their choices, and the problem that these are is solved (large neighbourhood search).
#pragma once

#include "lib/solver/Network.h"

#include <functional>
#include <random>

namespace tessera::solver {

// Gives a problem matrices of its own.
void copyMatrices(Problem &problem, const Matrices &from, Matrices &to);

class PartSearch {
public:
  PartSearch(const Problem &problem, const Matrices &matrices);

  // Goes on from choices that are within the room. Half of the parts begin where a choice costs
  // more than the bound knows to be possible: `regrets` has a number of that for each vertex. Half
  // also have what holds a lot in a step that binds, by the prices of steps or the least room left:
  // one such vertex, or eight that could give way together.
  void begin(const Choices &choices, const std::vector<double> &regrets,
             const std::vector<double> &prices);
  // Goes on for about that many steps; returns how many it took.
  int64_t run(int64_t steps, const std::function<bool()> &stop);
  const Choices &choices() const { return chosen; }

private:
  void pickPart();
  void growFrom(int32_t seed, size_t count);
  int32_t pickSeed();
  int32_t pickStep();
  std::pair<std::vector<int32_t>, std::vector<double>> holdersAt(int32_t step) const;
  size_t draw(const std::vector<double> &upTo);
  Problem partProblem() const;
  int64_t improvePart(const std::function<bool()> &stop);

  const Problem &problem;
  const Matrices &matrices;
  Network network;
  std::vector<std::vector<int32_t>> linksOf;
  Choices chosen;
  std::vector<double> regretUpTo;   // of all vertices to each
  std::vector<double> price;        // of each step
  std::vector<double> paidUpTo;     // for the room of all steps to each
  std::vector<int64_t> left;        // room beside what is held
  std::vector<int32_t> part, place; // the vertices that are free; of each, where in it, or -1
  size_t size = 40;
  std::mt19937_64 random{20250402};
};

} // namespace tessera::solver
