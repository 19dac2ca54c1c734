// Figures as people read them.
#include "lib/text/Quantity.h"

#include <gtest/gtest.h>

namespace tessera::text {
namespace {

TEST(QuantityTest, Counts) {
  EXPECT_EQ(counted(0, "device"), "0 devices");
  EXPECT_EQ(counted(1, "device"), "1 device");
  EXPECT_EQ(counted(1234567, "step"), "1,234,567 steps");
  EXPECT_EQ(counted(1, "axis", "axes"), "1 axis");
  EXPECT_EQ(counted(2, "axis", "axes"), "2 axes");
}

// Rounding never gives 1024 of a unit, nor 1000 of a smaller one.
TEST(QuantityTest, Bytes) {
  EXPECT_EQ(bytes(1), "1 byte");
  EXPECT_EQ(bytes(1023), "1,023 bytes");
  EXPECT_EQ(bytes(1024), "1.0 KiB");
  EXPECT_EQ(bytes(230 << 20), "230 MiB");
  EXPECT_EQ(bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytes(uint64_t{5} << 50), "5120 TiB");
}

TEST(QuantityTest, SizesThatAreRead) {
  EXPECT_EQ(bytesIn("4096"), 4096u);
  EXPECT_EQ(bytesIn("80GB"), 80000000000u);
  EXPECT_EQ(bytesIn("1.5 GiB"), 1610612736u);
  for (const char *wrong : {"", "GB", "0", "-1", "1e30", "inf", "nan", "80gb", "1 GB ", "1e-3"})
    EXPECT_EQ(bytesIn(wrong), std::nullopt) << wrong;
}

TEST(QuantityTest, Seconds) {
  EXPECT_EQ(seconds(350e-6), "350 us");
  EXPECT_EQ(seconds(0.99999e-3), "1.0 ms");
  EXPECT_EQ(seconds(12.34e-3), "12.3 ms");
  EXPECT_EQ(seconds(1.25), "1.2 s");
  EXPECT_EQ(seconds(200.4), "3 min 20 s");
}

} // namespace
} // namespace tessera::text
