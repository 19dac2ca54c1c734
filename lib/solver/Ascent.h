// The bound of one problem raised, and choices found on the way: messages, prices of bytes, and a
// local search that begins where they point.
#pragma once

#include "lib/solver/Dual.h"
#include "lib/solver/Search.h"

#include <functional>

namespace tessera::solver {

struct AscentLimits {
  int64_t steps = 0, rounds = 0;
  double wanted = forbidden; // a cost of something better that is known, if any
  double gap = 0;            // (cost - bound) / cost that is enough
  std::function<bool()> stop = {};
};

class Ascent {
public:
  Ascent(const Problem &problem, const Matrices &matrices);

  // Prices of steps to begin with, and choices.
  void begin(std::vector<double> prices);
  void offer(const Choices &choices);
  void run(const AscentLimits &limits);

  bool found() const { return bestCost < forbidden; }
  double cost() const { return bestCost; } // with the problem's constant
  const Choices &choices() const { return best; }
  double bound() const { return bestBound; }
  const std::vector<double> &prices() const { return bestPrices; }
  const std::vector<std::vector<bool>> &excluded() const { return dual.excluded(); }
  int64_t excludedCount() const { return dual.excludedCount(); }
  // The best choices, and those that messages and prices made best since a run was half done.
  const std::vector<std::vector<bool>> &seen() const { return wasSeen; }
  int64_t entries() const { return network.entries; }
  int64_t steps() const { return dual.steps() + search.steps() + counted; }
  // The vertex whose choice is least clear, and the choice to try first.
  std::pair<int32_t, int32_t> leastClear() const;
  // Of each vertex, how much its choice of those that were found costs above the least that messages
  // and prices leave it.
  std::vector<double> regrets() const;

private:
  void decode();
  void decodeWithin();
  void takeSearch();
  void see(const Choices &choices);
  void forgetSeen();
  void reprice(double wanted);
  void leap(double wanted);
  void tryChoices(int64_t searchSteps, const AscentLimits &limits);

  const Problem &problem;
  Network network;
  Dual dual;
  Search search;
  Choices decoded, best;
  double bestCost = forbidden, bestBound = -forbidden;
  std::vector<double> bestPrices, held; // held: in each step, the mean over passes, less the room
  std::vector<bool> priced; // steps that may have a price: those that were once the worst
  std::vector<std::vector<bool>> wasSeen;
  double stride = 1, pricedBound = -forbidden;
  // Where messages and prices were some passes ago, and how many times the way since is gone at once.
  std::vector<double> messagesBefore, pricesBefore;
  double boundBefore = -forbidden, reach = 4;
  int64_t counted = 0;
};

} // namespace tessera::solver
