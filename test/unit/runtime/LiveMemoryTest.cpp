#include "runtime/client/LiveMemory.h"
#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

TEST(LiveMemoryTest, TheLargestComeFirst) {
  EXPECT_EQ(describeLive({{"input 'x'", 100}, {"the arenas", 4096}, {"nothing", 0}}, 5000, 8192),
            "; live are the arenas (4.0 KiB), input 'x' (100 bytes); 4.9 KiB of 8.0 KiB are taken");
  EXPECT_EQ(describeLive({}, 0, 8192), "; there are 8.0 KiB");
}

TEST(LiveMemoryTest, ManyAreSummedUp) {
  std::vector<LiveArray> arrays;
  for (uint64_t i = 1; i <= 9; ++i)
    arrays.push_back({"array " + std::to_string(i), i});
  EXPECT_EQ(
      describeLive(arrays, 0, 100),
      "; live are array 9 (9 bytes), array 8 (8 bytes), array 7 (7 bytes), array 6 (6 bytes), "
      "array 5 (5 bytes), array 4 (4 bytes) and 3 others (6 bytes); there are 100 bytes");
}

} // namespace
} // namespace tessera::runtime
