#include "lib/fusion/WholeSums.h"

#include <gtest/gtest.h>

namespace tessera::fusion {

using Stages = llvm::SmallVector<size_t, 2>;

TEST(WholeSums, HavePartsOfWholeRows) {
  EXPECT_EQ(wholeSumStages({4096, 1024}, 4), Stages({1}));
  EXPECT_EQ(wholeSumStages({8, 16, 64, 128}, 4), Stages({2}));
}

TEST(WholeSums, HaveAnotherStageWherePartsAreMany) {
  EXPECT_EQ(wholeSumStages({32, 4096, 1024}, 4), Stages({2, 1}));
  EXPECT_EQ(wholeSumStages({4, 8, 4096, 1024}, 4), Stages({3, 2}));
  EXPECT_EQ(wholeSumStages({4, 65536, 1024}, 4), Stages({2})); // by four blocks: no better
}

TEST(WholeSums, StayWhereOneBlockIsSoonDone) {
  EXPECT_EQ(wholeSumStages({128, 1024}, 4), Stages()); // 512 KiB
  EXPECT_EQ(wholeSumStages({128, 1024}, 8), Stages({1}));
}

TEST(WholeSums, StayWherePartsWouldBeFewOrShort) {
  EXPECT_EQ(wholeSumStages({1 << 20}, 4), Stages());
  EXPECT_EQ(wholeSumStages({8, 1 << 20}, 4), Stages());
  EXPECT_EQ(wholeSumStages({1 << 20, 192}, 4), Stages());
}

TEST(WholeSums, StayWhereRowsDoNotEndWithFourUnits) {
  EXPECT_EQ(wholeSumStages({4096, 1040}, 4), Stages()); // 65 units
  EXPECT_EQ(wholeSumStages({}, 4), Stages());
}

} // namespace tessera::fusion
