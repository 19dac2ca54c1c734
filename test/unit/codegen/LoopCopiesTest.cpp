#include "passes/codegen/gpu/LoopCopies.h"

#include "gtest/gtest.h"

namespace tessera::codegen::gpu {
namespace {

TEST(LoopCopiesTest, ShortBodiesAreCopied) {
  EXPECT_TRUE(copiesPay({.instructions = 5}));
  EXPECT_TRUE(copiesPay({.instructions = 30, .mostTrips = 100}));
  EXPECT_FALSE(copiesPay({.instructions = 100}));
  EXPECT_FALSE(copiesPay({.instructions = 100, .mostTrips = 100}));
}

// Four copies at once, and one for what is left: with fewer trips only this one would run.
TEST(LoopCopiesTest, CopiesThatNeverRunAreNotMade) {
  EXPECT_FALSE(copiesPay({.instructions = 5, .mostTrips = 3}));
  EXPECT_TRUE(copiesPay({.instructions = 5, .mostTrips = 4}));
}

// Where the number of trips is known there is no loop left.
TEST(LoopCopiesTest, FewTripsAreWrittenOut) {
  EXPECT_TRUE(copiesPay({.instructions = 30, .mostTrips = 3, .isCounted = true}));
  EXPECT_TRUE(copiesPay({.instructions = 60, .mostTrips = 2, .isCounted = true}));
  EXPECT_FALSE(copiesPay({.instructions = 60, .mostTrips = 3, .isCounted = true}));
}

} // namespace
} // namespace tessera::codegen::gpu
