// How many bytes a cache holds.
#include "lib/cost/FitCache.h"

#include "lib/cost/CacheWalk.h"

#include <gtest/gtest.h>

#include <vector>

namespace tessera::cost {
namespace {

constexpr double kAny = 1e9, kPart = 1e6;

// A megabyte takes .1 ms where it is held, and twice that where it is not.
std::vector<CachePass> passesOf(double capacity, double othersPerSecond = 0) {
  std::vector<CachePass> passes;
  for (double bytes : {2e6, 4e6, 8e6, 12e6, 16e6, 24e6, 32e6, 64e6}) {
    CachePass pass{bytes, 1e-4, kPart};
    for (int i = 0; i < 50; ++i) // others bring more the longer it takes
      pass.seconds = 1e-4 * (2 - heldAfter(bytes, capacity, othersPerSecond * pass.round()));
    passes.push_back(pass);
  }
  return passes;
}

TEST(FitCache, FindsWhatIsBetweenTheSizes) {
  for (double capacity : {5e6, 9e6, 11e6, 14e6, 19e6})
    EXPECT_NEAR(cacheOf(passesOf(capacity), kAny).bytes, capacity, 0.04 * capacity) << capacity;
}

// As measured where 32 MB are shared by two cores and by other machines: the time rises from a quarter of
// the size on. The first size at which it has risen by half tells 8 or 16 MB, by chance.
TEST(FitCache, OneThatIsUsedUpSlowly) {
  std::vector<CachePass> passes{{2e6, 72},  {4e6, 73.8}, {6e6, 74.3}, {8e6, 78.6},   {10e6, 85.4},
                                {12e6, 93}, {16e6, 108}, {24e6, 128}, {32e6, 132.8}, {64e6, 134.9}};
  double found = cacheOf(passes, kAny).bytes;
  EXPECT_NEAR(found, 11e6, 2e6);
  passes[6].seconds = 98; // a little less or more changes little
  EXPECT_NEAR(cacheOf(passes, kAny).bytes, found, 0.15 * found);
}

// Where what is held takes now longer, now less, as on a machine whose pace wanders, and no pass is
// quickest or slowest but by chance.
TEST(FitCache, DoesNotTakeThePaceForTheCache) {
  std::vector<CachePass> passes = passesOf(19e6);
  for (size_t i = 0; i < passes.size(); ++i)
    passes[i].seconds *= i % 2 ? 1.06 : 0.97;
  EXPECT_NEAR(cacheOf(passes, kAny).bytes, 19e6, 3e6);
}

TEST(FitCache, FindsWhatOthersBring) {
  for (double others : {3e9, 1e10, 3e10}) {
    SharedCache found = cacheOf(passesOf(16e6, others), 16e6);
    EXPECT_NEAR(found.othersPerSecond / found.bytes, others / 16e6, 0.15 * others / 16e6) << others;
  }
}

// As measured beside neighbours who use most of 32 MB: no size of a cache of one's own explains them.
TEST(FitCache, TheLongerARoundTakesTheMoreIsLost) {
  std::vector<CachePass> passes;
  for (auto [bytes, microseconds] : {std::pair{2e6, 104.4},
                                     {5e6, 141.4},
                                     {8e6, 170.1},
                                     {12e6, 191.9},
                                     {16e6, 206.6},
                                     {24e6, 213.6},
                                     {32e6, 219.8},
                                     {64e6, 224.0}})
    passes.push_back({bytes, 1e-6 * microseconds, 512 * 512 * 4});
  SharedCache found = cacheOf(passes, 16e6);
  EXPECT_NEAR(found.bytes, 16e6, 3e6);
  EXPECT_NEAR(found.othersPerSecond, 8e9, 3e9);
}

TEST(FitCache, NoneIsSeenWhereAllTakeAsLong) {
  EXPECT_EQ(cacheOf({{2e6, 1}, {16e6, 1.1}, {64e6, 1.2}}, kAny).bytes, 0);
  EXPECT_EQ(cacheOf({{2e6, 1}}, kAny).bytes, 0);
}

} // namespace
} // namespace tessera::cost
