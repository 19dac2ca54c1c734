// What a cache still holds of what a program comes back to.
#include "lib/cost/CacheWalk.h"

#include "gtest/gtest.h"

#include <cmath>
#include <utility>

namespace tessera::cost {
namespace {

TEST(CacheWalk, HoldsWhatWasTouchedLast) {
  CacheWalk cache(8);
  EXPECT_EQ(cache.touch(0, 4), 4);
  EXPECT_EQ(cache.touch(0, 4), 0);
  EXPECT_EQ(cache.touch(2, 6), 2);
  cache.pass(80);
  cache.touch(0, 6);
  cache.pass(2); // as many others as it has room for
  EXPECT_EQ(cache.touch(0, 6), 0);
  cache.pass(6); // half as many again as it holds: not all of the oldest are lost
  EXPECT_DOUBLE_EQ(cache.touch(0, 6), 6 * (1 - std::exp(-1)));
  cache.pass(80);
  EXPECT_NEAR(cache.touch(0, 6), 6, 1e-6);
  cache.forget(2, 4); // another core has written it
  EXPECT_EQ(cache.touch(0, 6), 2);
}

// An array that is larger than the cache takes its own place. (It was warm, whatever its size, where nothing else
// was touched.)
TEST(CacheWalk, LargeArraysAreNotHeld) {
  CacheWalk cache(8);
  cache.touch(0, 16);
  EXPECT_DOUBLE_EQ(cache.touch(0, 16), 16 * (1 - std::exp(-2)));
  EXPECT_EQ(cache.touch(12, 16), 0); // which were touched last
  // But a kernel has what it has just read.
  cache.begin();
  cache.touch(100, 116);
  EXPECT_EQ(cache.touch(100, 116), 0);
  cache.begin();
  EXPECT_GT(cache.touch(100, 116), 8);
}

// What others bring replaces, and so does what misses for it.
TEST(CacheWalk, OthersReplaceWhatIsHeld) {
  EXPECT_NEAR(heldAfter(0, 8, 1), std::exp(-1 / 8.0), 1e-9);
  for (auto [touched, others] : {std::pair{4.0, 1.0}, {8.0, 1.0}, {8.0, 20.0}, {40.0, 3.0}}) {
    double held = heldAfter(touched, 8, others);
    EXPECT_NEAR(held, std::exp(-((1 - held) * touched + others) / 8), 1e-9)
        << touched << " " << others;
  }
  CacheWalk cache(8);
  cache.touch(0, 4);
  cache.passOthers(16);
  EXPECT_NEAR(cache.touch(0, 4), 4 * (1 - heldAfter(4, 8, 16)), 1e-9); // its own alone, and others
  EXPECT_NEAR(cache.touch(0, 4), 0, 1e-9);
}

TEST(CacheWalk, GivesUpWhatIsTaken) {
  CacheWalk cache(8);
  cache.touch(0, 6);
  EXPECT_EQ(cache.take(4, 10, 6), 2);
  EXPECT_EQ(cache.take(0, 10, 10), 4);
  EXPECT_EQ(cache.take(0, 10, 10), 0);
  cache.touch(0, 6);
  cache.pass(40); // of others
  EXPECT_LT(cache.take(0, 6, 6), 0.01);
}

TEST(CacheWalk, GivesUpAnotherPartEachTime) {
  CacheWalk cache(8);
  cache.touch(0, 6);
  EXPECT_EQ(cache.take(0, 12, 2), 1); // half of all is held
  EXPECT_EQ(cache.take(0, 12, 2), 1);
  EXPECT_EQ(cache.take(0, 12, 12), 6);
  EXPECT_EQ(cache.take(0, 12, 2), 0);
}

// Whatever part a core has touched of what they divide: it is another one next time.
TEST(CacheWalk, CoresThatDivideAnArrayHaveAPartOfItEach) {
  CacheWalk cache(8);
  cache.touch(0, 4);
  EXPECT_EQ(cache.touch(0, 4, 4, /*sharers=*/2), 2);
  EXPECT_EQ(cache.touch(0, 4, 4, /*sharers=*/2), 2);
  EXPECT_EQ(cache.touch(0, 4), 2); // one of them comes back to all
  EXPECT_EQ(cache.touch(0, 4), 0);
  cache.touch(100, 108, 8, /*sharers=*/2); // of which each has four
  EXPECT_EQ(cache.touch(0, 4), 0);
}

} // namespace
} // namespace tessera::cost
