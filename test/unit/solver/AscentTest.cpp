// Bounds that prices of bytes reach.
#include "lib/solver/Ascent.h"

#include <gtest/gtest.h>

using namespace tessera::solver;

namespace {

// One vertex, of choices that cost 0 and hold 10, or cost 1 and hold nothing, where there is room for
// 5: the best price is 1/10, and the bound then 1/2. The first steps go beyond it, to where nothing
// is held and no price says that anything should be.
TEST(Ascent, PricesThatWereTooHighAreTakenBack) {
  Problem problem;
  problem.costs = {{0, 1}};
  problem.holds = {{0, 0, 1, {10, 0}}};
  problem.room = {5};
  Matrices matrices;
  Ascent ascent(problem, matrices);
  ascent.begin({0});
  ascent.run({.steps = 1'000'000, .rounds = 100});
  EXPECT_GT(ascent.bound(), 0.4);
  EXPECT_LE(ascent.bound(), 0.5 + 1e-12);
  EXPECT_EQ(ascent.cost(), 1);
}

} // namespace
