// How attention's blocks divide shared memory and registers.
#include "passes/codegen/gpu/FlashPlan.h"
#include "passes/codegen/gpu/Division.h"

#include <gtest/gtest.h>

namespace tessera::codegen::gpu {
namespace {

constexpr FlashMultiplier kThreads{64, 256, 16, 16, 4, 0}, kCores{64, 128, 32, 64, 2, 8};

TEST(FlashPlanTest, AnyHeadFitsWhatABlockHas) {
  for (const FlashMultiplier &by : {kThreads, kCores})
    for (int64_t size = 8; size <= 512; ++size)
      for (int64_t factors : {1, 2, 3}) {
        FlashSizes sizes{{size, size}, {128, 128}, factors, 20};
        FlashPlan plan = planFlash(sizes, by, kMostSharedBytes - 2048);
        EXPECT_LE(plan.elements() * by.bytes, kMostSharedBytes - 2048) << size;
        EXPECT_EQ(plan.other % plan.resultDepth, 0);
      }
}

TEST(FlashPlanTest, QueriesStayWhereTheyFit) {
  EXPECT_TRUE(planFlash({{64}, {64}, 1, 10}, kThreads, kMostSharedBytes - 2048).keepsOwn);
  EXPECT_TRUE(planFlash({{96}, {128}, 1, 10}, kCores, kMostSharedBytes - 2048).keepsOwn);
  EXPECT_FALSE(planFlash({{512}, {128}, 1, 10}, kThreads, kMostSharedBytes - 2048).keepsOwn);
}

TEST(FlashPlanTest, SlicesAreDeepWhereThatLeavesNothingEmpty) {
  auto depth = [](int64_t terms) {
    return planFlash({{terms}, {64}, 1, 10}, kCores, kMostSharedBytes).depth;
  };
  EXPECT_EQ(depth(64), 64);
  EXPECT_EQ(depth(128), 64);
  EXPECT_EQ(depth(80), 32); // 96, not 128
  EXPECT_EQ(depth(24), 32);
  EXPECT_EQ(depth(63), 32); // element by element
}

// Code is written for each of a thread's elements.
TEST(FlashPlanTest, TilesAreSmallerWhereMuchIsComputedOfAnElement) {
  EXPECT_EQ(planFlash({{64}, {64}, 1, 10}, kCores, kMostSharedBytes).other, 64);
  EXPECT_EQ(planFlash({{64}, {64}, 1, 100}, kCores, kMostSharedBytes).other, 32);
}

TEST(FlashPlanTest, EachColumnOfAResultIsOneBlocks) {
  for (int64_t size = 1; size <= 700; ++size) {
    std::vector<int64_t> seen(2, 0);
    for (const auto &group : groupColumns({size, 24}, 16)) {
      int64_t taken = 0;
      for (const FlashColumns &columns : group) {
        EXPECT_EQ(columns.first, seen[columns.result]);
        seen[columns.result] = columns.first + columns.columns;
        taken += columns.columns;
      }
      EXPECT_LE(taken, 256);
    }
    EXPECT_GE(seen[0], size);
    EXPECT_LT(seen[0] - size, 128);
    EXPECT_GE(seen[1], 24);
  }
}

} // namespace
} // namespace tessera::codegen::gpu
