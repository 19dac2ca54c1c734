// Choices made better by parts of a problem.
#include "lib/solver/Parts.h"

#include <gtest/gtest.h>

using namespace tessera::solver;

namespace {

// Five hundred vertices hold a byte each, and one holds all that another would need, which pays for it
// many times: a part with both is found by what they hold, not among the five hundred.
TEST(Parts, WhatHoldsALotGivesWayToWhatPaysForIt) {
  Problem problem;
  for (int32_t v = 0; v < 502; ++v) {
    bool large = v >= 500;
    problem.costs.push_back({0, v == 501 ? 10.0 : 1.0});
    problem.holds.push_back({v, 0, 1, {large ? 1000 : 1, 0}});
  }
  problem.room = {1500};
  Matrices matrices;
  PartSearch parts(problem, matrices);
  Choices start(502, 0);
  start[501] = 1;
  std::vector<double> regrets(502);
  regrets[501] = 9;
  parts.begin(start, regrets, {0});
  parts.run(100'000, {});
  EXPECT_EQ(parts.choices()[500], 1);
  EXPECT_EQ(parts.choices()[501], 0);
  EXPECT_EQ(parts.choices()[0], 0);
}

// As above, but what would be needed is held by two: neither is of use without the other.
TEST(Parts, TwoThatHoldALotGiveWayTogether) {
  Problem problem;
  for (int32_t v = 0; v < 503; ++v) {
    problem.costs.push_back({0, v == 502 ? 10.0 : 1.0});
    int64_t bytes = v == 502 ? 1000 : v >= 500 ? 500 : 1;
    problem.holds.push_back({v, 0, 1, {bytes, 0}});
  }
  problem.room = {1500};
  Matrices matrices;
  PartSearch parts(problem, matrices);
  Choices start(503, 0);
  start[502] = 1;
  std::vector<double> regrets(503);
  regrets[502] = 9;
  parts.begin(start, regrets, {0});
  parts.run(400'000, {});
  EXPECT_EQ(parts.choices()[500], 1);
  EXPECT_EQ(parts.choices()[501], 1);
  EXPECT_EQ(parts.choices()[502], 0);
}

} // namespace
