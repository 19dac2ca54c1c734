// Which of several plans is taken.
#include "lib/plan/Ranking.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

Ranked plan(double predicted, double counted, size_t axes = 1, bool isNamed = false) {
  return {/*fits=*/true, predicted, counted, /*bytes=*/100, axes, isNamed};
}

TEST(Ranking, TheQuickestWins) {
  EXPECT_EQ(bestOf({plan(3, 1), plan(2, 9, 3), plan(4, 1)}), 1u);
  EXPECT_EQ(bestOf({plan(0, 3), plan(0, 2, 3), plan(0, 4)}), 1u); // none was compiled
}

// What is predicted to take as long is not told apart by the third digit.
TEST(Ranking, OfThoseThatTakeAsLongTheSimplest) {
  EXPECT_EQ(bestOf({plan(1.0000, 1.05), plan(1.0015, 1.00)}), 1u);         // counted less
  EXPECT_EQ(bestOf({plan(1.0000, 1.000, 2), plan(1.0015, 1.004, 1)}), 1u); // fewer axes
  EXPECT_EQ(bestOf({plan(1, 1, 1, false), plan(1, 1, 1, true)}), 1u);      // people know it
  EXPECT_EQ(bestOf({plan(1, 1), plan(1, 1)}), 0u);
  Ranked small = plan(1.001, 1, 2);
  small.bytes = 50;
  EXPECT_EQ(bestOf({plan(1, 1), small}), 1u);
}

// What a device has no room for is compiled last, however quick.
TEST(Ranking, WhatFitsComesFirst) {
  Ranked large = plan(0, 1);
  large.fits = false;
  EXPECT_EQ(inOrder({large, plan(0, 3), plan(0, 2)}), (std::vector<size_t>{2, 1, 0}));
  EXPECT_EQ(bestOf({large, large}), 0u);
}

TEST(Ranking, AnOrderTakesTheBestOfWhatIsLeft) {
  EXPECT_EQ(inOrder({plan(0, 1.002, 2), plan(0, 3), plan(0, 1, 3), plan(0, 1.004, 1)}),
            (std::vector<size_t>{3, 0, 2, 1}));
  EXPECT_TRUE(inOrder({}).empty());
}

TEST(Ranking, TwoOrdersTakeTurns) {
  EXPECT_EQ(byTurns({2, 0, 1}, {2, 0, 1}), (std::vector<size_t>{2, 0, 1}));
  EXPECT_EQ(byTurns({0, 1, 2, 3}, {3, 0, 2, 1}), (std::vector<size_t>{0, 3, 1, 2}));
}

} // namespace
} // namespace tessera::plan
