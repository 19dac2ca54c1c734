// Which plans are asked for the least memory that they need, where none fits.
#include "lib/plan/LeastTrials.h"

#include <gtest/gtest.h>

using namespace tessera::plan;

namespace {

// The numbers in the order in which they are asked; `needs` of each.
std::vector<size_t> asked(LeastTrials trials, const std::vector<int64_t> &needs) {
  std::vector<size_t> numbers;
  while (std::optional<size_t> number = trials.next()) {
    numbers.push_back(*number);
    trials.needs(needs[*number]);
  }
  return numbers;
}

TEST(LeastTrials, ThoseThatCouldFitAreAllAsked) {
  std::vector<TooLarge> plans{{30, 4}, {12, 4}, {12, 5}, {20, 9}};
  EXPECT_EQ(asked({plans, 10, 100000}, {11, 11, 11, 11}), (std::vector<size_t>{1, 2, 3, 0}));
}

TEST(LeastTrials, OfALargeProgramOneIsAskedInVain) {
  std::vector<TooLarge> plans(6, {20, 10}); // given all there is
  EXPECT_EQ(asked({plans, 10, 5000}, std::vector<int64_t>(6, 15)), (std::vector<size_t>{0}));
}

TEST(LeastTrials, OfASmallerOneAsManyAsThereIsTimeFor) {
  std::vector<TooLarge> plans(6, {20, 10});
  EXPECT_EQ(asked({plans, 10, 999}, std::vector<int64_t>(6, 15)),
            (std::vector<size_t>{0, 1, 2, 3})); // 1 + 3000 / 1000
}

TEST(LeastTrials, ThoseThatCouldFitDoNotCountAmongTheFew) {
  std::vector<TooLarge> plans{{20, 10}, {21, 10}, {22, 3}, {23, 3}};
  EXPECT_EQ(asked({plans, 10, 5000}, {15, 15, 15, 15}), (std::vector<size_t>{0, 2, 3}));
}

TEST(LeastTrials, NoneThatIsGivenMoreThanAnotherNeeds) {
  std::vector<TooLarge> plans{{20, 12}, {21, 15}, {22, 13}, {23, 14}};
  EXPECT_EQ(asked({plans, 10, 10}, {14, 99, 14, 99}), (std::vector<size_t>{0, 2}));
}

TEST(LeastTrials, WhatIsNotKnownRulesNoneOut) {
  std::vector<TooLarge> plans{{20, 12}, {21, 15}};
  EXPECT_EQ(asked({plans, 10, 10}, {0, 0}), (std::vector<size_t>{0, 1}));
}

TEST(LeastTrials, WhatIsAboveThreeTimesTheBoundIsOutOfReach) {
  EXPECT_TRUE(isInReach(30, 10));
  EXPECT_FALSE(isInReach(31, 10));
}

} // namespace
