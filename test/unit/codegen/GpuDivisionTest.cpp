// How a nest's points are divided over a GPU.
#include "passes/codegen/gpu/Division.h"

#include <gtest/gtest.h>

namespace tessera::codegen::gpu {
namespace {

TEST(GpuDivisionTest, AThreadHasAsManyElementsAsOneAccessMoves) {
  EXPECT_EQ(elementsOfThread(4096, 4), 4);
  EXPECT_EQ(elementsOfThread(4096, 2), 8);
  EXPECT_EQ(elementsOfThread(4096, 8), 2);
  EXPECT_EQ(elementsOfThread(4096, 1), 16);
  // No rest is left: fewer, or one.
  EXPECT_EQ(elementsOfThread(4098, 4), 2);
  EXPECT_EQ(elementsOfThread(37, 4), 1);
  EXPECT_EQ(elementsOfThread(12, 1), 4);
}

TEST(GpuDivisionTest, TheLastBlockMayHaveARest) {
  EXPECT_EQ(blocksFor(256, {}), 1);
  EXPECT_EQ(blocksFor(257, {}), 2);
  EXPECT_EQ(blocksFor(1, {}), 1);
  EXPECT_EQ(blocksFor(100, {0, 32}), 4);
}

} // namespace
} // namespace tessera::codegen::gpu
