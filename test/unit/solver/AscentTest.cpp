// Bounds that prices of bytes reach.
#include "lib/solver/Ascent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

// A grid of 20 by 20 with random costs, and bytes of which too many would be held.
struct Grid {
  Problem problem;
  Matrices matrices;

  Grid() {
    constexpr int32_t side = 20, choices = 4;
    std::mt19937_64 random(7);
    auto number = [&] { return static_cast<double>(random() % 1000); };
    auto link = [&](int32_t from, int32_t to) {
      Matrix matrix{choices, choices, {}};
      for (int n = 0; n < choices * choices; ++n)
        matrix.costs.push_back(number());
      int32_t id = matrices.add(std::move(matrix));
      problem.links.push_back({from, to, id, matrices.transposed(id)});
    };
    for (int32_t v = 0; v < side * side; ++v) {
      problem.costs.push_back({});
      problem.holds.push_back({v, v / side, std::min(v / side + 4, side), {}});
      for (int n = 0; n < choices; ++n) {
        problem.costs.back().push_back(number());
        problem.holds.back().bytes.push_back(static_cast<int64_t>(random() % 100));
      }
    }
    for (int32_t v = 0; v < side * side; ++v) {
      if ((v + 1) % side)
        link(v, v + 1);
      if (v + side < side * side)
        link(v, v + side);
    }
    problem.room.assign(side, 2000);
  }
};

TEST(Ascent, WhereStepsAgreeManyAreTakenAtOnce) {
  Grid grid;
  Ascent ascent(grid.problem, grid.matrices);
  ascent.begin(std::vector<double>(20));
  ascent.run({.steps = 1'000'000'000, .rounds = 400});
  EXPECT_GT(ascent.bound(), 419163.5); // small steps alone end at 419162.8
  EXPECT_GE(ascent.cost(), ascent.bound());
}

// Most of four choices were never best in the second half of the run.
TEST(Ascent, SeenAreTheBestChoicesAndFewOthers) {
  Grid grid;
  Ascent ascent(grid.problem, grid.matrices);
  ascent.begin(std::vector<double>(20));
  ascent.run({.steps = 20'000'000, .rounds = 10'000});
  ASSERT_TRUE(ascent.found());
  size_t count = 0;
  for (size_t v = 0; v < ascent.seen().size(); ++v) {
    EXPECT_TRUE(ascent.seen()[v][ascent.choices()[v]]);
    count += std::count(ascent.seen()[v].begin(), ascent.seen()[v].end(), true);
  }
  EXPECT_LT(count, 2 * ascent.seen().size());
}

} // namespace
