// Branch and bound: a problem is reduced and bounded; where that leaves a gap, it is reduced again
// without what can't be better, or one of its vertices takes one choice in one part, and the others
// in the other part.
#pragma once

#include "lib/solver/Ascent.h"
#include "lib/solver/Reduce.h"

#include <functional>

namespace tessera::solver {

class Tree {
public:
  struct Limits {
    int64_t steps = 0;
    int64_t rounds = 0; // of messages that there are steps for, however large what is left is
    double gap = 0;     // (cost - bound) / cost that is enough
    bool parts = true;  // large problems also by parts
    bool seen = true;   // and by the choices that were seen alone
    std::function<bool()> stop = {};
  };
  Tree(Matrices &matrices, Limits limits) : matrices(matrices), limits(std::move(limits)) {}

  // Choices that are known, if they are better.
  void offer(const Choices &choices, double choicesCost);
  // The least that choices of the problem that are better than `cost()` can cost; `cost()` where
  // none are. Begins with these prices of the steps, where there are any.
  double explore(const Problem &problem, std::vector<double> prices = {});

  int64_t stepsLeft() const { return limits.steps; }
  double cost() const { return bestCost; } // forbidden: none was found
  const Choices &choices() const { return best; }

private:
  // A part of the problem, and how it came from that of the part around it.
  struct Part {
    const Problem &problem;
    Matrices &matrices; // that the problem's links are of
    const Part *around = nullptr;
    const Reduction *reduction = nullptr; // of the part around, whose core this is of
    std::vector<double> prices = {};
    Choices start = {}; // of the problem; empty: none
    int depth = 0;
  };
  double explore(const Part &part);
  void climb(const Part &part, const Reduction &reduction, Ascent &ascent);
  void searchSeen(const Part &part, const Reduction &reduction, Ascent &ascent, int64_t steps);
  double branch(const Part &part, const Reduction &reduction, const Ascent &ascent);
  void take(const Part &part, const Reduction &reduction, const Choices &core, double cost);
  bool outOfSteps() const { return limits.steps <= 0 || (limits.stop && limits.stop()); }
  bool near(double bound) const;

  Matrices &matrices;
  Limits limits;
  Choices best;
  double bestCost = forbidden;
};

} // namespace tessera::solver
