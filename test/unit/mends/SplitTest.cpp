#include "lib/mends/Split.h"

#include "gtest/gtest.h"

namespace tessera::mends {
namespace {

TEST(Split, OneDimensionIsSeveral) {
  std::optional<Split> split = splitOf({8, 96, 5}, {8, 3, 32, 5});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->dim, 1u);
  EXPECT_EQ(split->factors, (llvm::SmallVector<int64_t>{3, 32}));
  EXPECT_FALSE(split->inverse);
  EXPECT_TRUE(splitOf({8, 3, 32, 5}, {8, 96, 5})->inverse);
  EXPECT_FALSE(splitOf({8, 96}, {96, 8}));
  EXPECT_FALSE(splitOf({8, 96, 5}, {8, 3, 160}));
}

TEST(Split, AnotherFactorFirst) {
  Split split{1, {3, 16, 2}, false};
  EXPECT_EQ(orderWithFirst(split, 5, 1), (llvm::SmallVector<int64_t>{0, 2, 1, 3, 4}));
  EXPECT_EQ(orderWithFirst(split, 5, 2), (llvm::SmallVector<int64_t>{0, 3, 1, 2, 4}));
}

} // namespace
} // namespace tessera::mends
