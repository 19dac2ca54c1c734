#include "lib/sharding/FourStepRows.h"

#include <gtest/gtest.h>

using namespace tessera::sharding;

namespace {

TEST(FourStepRows, TakesOneRowADeviceWhereThatIsEven) {
  EXPECT_EQ(fourStepRows(4096, 8), 8);
  EXPECT_EQ(fourStepRows(64, 8), 8);
}

TEST(FourStepRows, SendsLeastWhereNothingIsEven) {
  EXPECT_EQ(fourStepRows(1000, 8), 8);   // a device holds 125, then 128 points
  EXPECT_EQ(fourStepRows(2025, 8), 135); // 255, then 270, of 254
  EXPECT_EQ(fourStepRows(100, 8), 20);   // 15, then 20; 10 rows of 10 hold 20 both times
  EXPECT_EQ(fourStepRows(4, 2), 2);
}

TEST(FourStepRows, NeedsADivisor) {
  EXPECT_FALSE(fourStepRows(101, 8));
  EXPECT_FALSE(fourStepRows(2, 2));
  EXPECT_FALSE(fourStepRows(1, 2));
}

} // namespace
