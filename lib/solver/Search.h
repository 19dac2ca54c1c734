// Choices made better step by step: each vertex takes the best of its choices that has room, and a
// random change is kept where its neighbours' answers pay for it (iterated local search).
#pragma once

#include "lib/solver/Network.h"
#include "lib/solver/Profile.h"

#include <functional>
#include <random>

namespace tessera::solver {

class Search {
public:
  explicit Search(const Network &network);

  // Forbidden choices and pairs count as penalty: more than all that is allowed.
  double cost() const { return total; }
  int64_t over() const { return profile.over(); }
  const Choices &choices() const { return chosen; }
  double worst() const { return penalty / 2; } // more than any choices that are allowed cost
  bool feasible() const { return over() <= 0 && total < penalty / 2; }

  void set(const Choices &choices);
  // As many bytes are saved, for least cost each, as are too much; false where that ends too high.
  bool repair();
  // Every vertex takes its best choice with room until none changes.
  void improve();
  // Random changes, about that many steps.
  void perturb(int64_t steps, const std::function<bool()> &stop);

  int64_t steps() const { return counted; }

private:
  struct Undo {
    int32_t vertex, choice;
  };
  void scoresOf(int32_t v);
  bool fits(int32_t v, int32_t choice);
  void move(int32_t v, int32_t choice);
  void push(int32_t v);
  void pushNeighbours(int32_t v);
  void settle(int64_t moves);
  bool saveBytes(int32_t step);

  const Network &network;
  Profile profile;
  Choices chosen;
  double total = 0, penalty = 1;
  std::vector<double> scores; // of the vertex last asked for
  std::vector<int32_t> queue;
  std::vector<bool> queued;
  std::vector<Undo> log;
  std::mt19937_64 random{20250401};
  int64_t counted = 0;
};

} // namespace tessera::solver
