// What programs take beside each other where the machine's pace wanders.
#include "lib/cost/OnePace.h"

#include <gtest/gtest.h>

namespace tessera::cost {
namespace {

TEST(OnePace, Median) {
  EXPECT_EQ(medianOf({}), 0);
  EXPECT_EQ(medianOf({3, 1, 2}), 2);
  EXPECT_EQ(medianOf({4, 1, 2, 3}), 2.5);
}

// Every other step is quick: the least is what no longer step takes. One that was disturbed is in none of
// the best rows.
TEST(OnePace, LeastInARow) {
  std::vector<double> seconds{2, 1, 2, 1, 9, 1, 2, 1};
  EXPECT_EQ(leastInARow(seconds, 0), 1);
  EXPECT_DOUBLE_EQ(leastInARow(seconds, 3), 1.5);
  EXPECT_DOUBLE_EQ(leastInARow({4, 3, 5}, 1), 3);
  EXPECT_DOUBLE_EQ(leastInARow({1, 2, 3}, 100), 2); // no row is as long
  EXPECT_EQ(leastInARow({}, 1), 0);
}

// A tenth between two programs, at paces that differ by half. The least of each would say that the
// second takes less than the first.
TEST(OnePace, ADifferenceThatIsLessThanThePaceWanders) {
  std::vector<double> seconds =
      atOnePace({{1.2, 1.32}, {1, 1.1}, {1.5, 1.65}, {1.3, 0.9}, {1.2, 1.32}});
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_DOUBLE_EQ(seconds[0], 1.2);
  EXPECT_NEAR(seconds[1], 1.32, 1e-9);
  EXPECT_TRUE(atOnePace({}).empty());
}

} // namespace
} // namespace tessera::cost
