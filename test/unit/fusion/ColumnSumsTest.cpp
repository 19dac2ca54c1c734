// Parts of sums over columns: nodes of the order of addition, many of them, none of nothing.
#include "lib/fusion/ColumnSums.h"

#include <gtest/gtest.h>

using namespace tessera::fusion;

using Sizes = std::vector<int64_t>;

static std::optional<ColumnParts> parts(const Sizes &shape, const std::vector<int64_t> &summed,
                                        int64_t bytes = 4) {
  llvm::SmallVector<bool> isSummed(shape.size(), false);
  for (int64_t dim : summed)
    isSummed[dim] = true;
  return columnParts(shape, isSummed, bytes);
}

static Sizes window(const std::optional<ColumnParts> &parts) {
  return parts ? Sizes(parts->window.begin(), parts->window.end()) : Sizes();
}

TEST(ColumnSums, APartIsANodeOfTheOrderOfAddition) {
  auto rows = parts({8192, 2048}, {0});
  EXPECT_EQ(window(rows), (Sizes{64, 1}));
  EXPECT_EQ(rows->summed, 64);
  // Of many rows it has more: there are parts enough.
  EXPECT_EQ(window(parts({1 << 20, 64}, {0})), (Sizes{16384, 1}));
}

TEST(ColumnSums, InnerDimensionsAreSummedWhole) {
  auto images = parts({32, 56, 56, 64}, {0, 1, 2});
  EXPECT_EQ(window(images), (Sizes{1, 4, 56, 1}));
  EXPECT_EQ(images->summed, 4);
  auto tokens = parts({16, 49, 768}, {0, 1});
  EXPECT_EQ(window(tokens), (Sizes{1, 49, 1}));
  EXPECT_EQ(tokens->summed, 1) << "what is left is a sum like any other";
}

TEST(ColumnSums, UnevenRowsHaveASmallerLastPart) {
  EXPECT_EQ(window(parts({8, 197, 768}, {0, 1})), (Sizes{1, 64, 1}));
  EXPECT_EQ(window(parts({1, 8191, 1, 96}, {0, 1, 2})), (Sizes{1, 64, 1, 1}));
}

TEST(ColumnSums, WhatGainsNothingStays) {
  EXPECT_FALSE(parts({128, 128}, {0})) << "small";
  EXPECT_FALSE(parts({8192, 2048}, {1})) << "rows";
  EXPECT_FALSE(parts({64, 8192, 64}, {0, 2})) << "rows, too";
  EXPECT_FALSE(parts({64, 8192, 64}, {1})) << "something else outside";
  EXPECT_FALSE(parts({1 << 20, 8}, {0})) << "few columns";
  EXPECT_FALSE(parts({64, 1 << 20}, {0})) << "wide ones";
  EXPECT_FALSE(parts({0, 2048}, {0}));
  EXPECT_FALSE(parts({24, 1 << 14}, {0})) << "few rows";
}
