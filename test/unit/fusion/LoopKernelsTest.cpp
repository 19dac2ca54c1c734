// Which loops are one kernel, and how often it runs.
#include "lib/fusion/LoopKernels.h"

#include <gtest/gtest.h>

using namespace tessera::fusion;

namespace {

TEST(LoopKernels, ShortLoopIsTheKernelAlone) {
  std::optional<LoopKernel> kernel = loopKernelOf(20, 60);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->isWhole);
  EXPECT_EQ(kernel->trips, 60);
  EXPECT_EQ(kernel->runs, 1);
}

// A step that takes longer is no short one, which a loop of instructions tells the runtime.
TEST(LoopKernels, LongerLoopHasOneAround) {
  std::optional<LoopKernel> kernel = loopKernelOf(20, 20000);
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(kernel->isWhole);
  EXPECT_EQ(kernel->runs, 1);
}

TEST(LoopKernels, RunsAreEvenAndMakeAllTrips) {
  std::optional<LoopKernel> kernel = loopKernelOf(16, (int64_t(1) << 20) + 1);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->runs, 2);
  EXPECT_EQ(kernel->trips, (int64_t(1) << 19) + 1);
  EXPECT_GE(*kernel->runs * kernel->trips, (int64_t(1) << 20) + 1);
}

// What data ends is not known to end: each run does.
TEST(LoopKernels, UncountedLoopRunsInParts) {
  std::optional<LoopKernel> kernel = loopKernelOf(16, std::nullopt);
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(kernel->isWhole);
  EXPECT_FALSE(kernel->runs);
  EXPECT_EQ(kernel->trips, 1 << 20);
}

TEST(LoopKernels, TripsThatTakeLongStayInstructions) {
  EXPECT_FALSE(loopKernelOf(5000, 10));
  EXPECT_FALSE(loopKernelOf(5000, std::nullopt));
  EXPECT_FALSE(loopKernelOf(10, 0));
}

} // namespace
