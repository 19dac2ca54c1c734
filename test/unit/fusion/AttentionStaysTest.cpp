// Which attention is one kernel: lib/fusion/AttentionStays.h.
#include "lib/fusion/AttentionStays.h"

#include <gtest/gtest.h>

namespace tessera::fusion {
namespace {

constexpr Attention usual{
    .heads = 8, .queries = 128, .keys = 128, .queryElements = 64, .valueElements = 64};

TEST(AttentionStays, WhereItsScoresAreMoreThanACache) {
  EXPECT_TRUE(attentionStays(usual));
  Attention small = usual;
  small.heads = 2;
  EXPECT_FALSE(attentionStays(small));
}

TEST(AttentionStays, OfFewerScoresWhereTheyMayBeHidden) {
  Attention block = usual;
  block.heads = 2;
  block.mayBeHidden = true;
  EXPECT_TRUE(attentionStays(block));
  block.keys = 64; // 64 KiB
  EXPECT_TRUE(attentionStays(block));
  block.heads = 1;
  EXPECT_FALSE(attentionStays(block));
  EXPECT_TRUE(attentionStays(block, ofFewScores()));
}

TEST(AttentionStays, CountsHeadsThatShareKeys) {
  Attention shared = usual;
  shared.heads = 2;
  shared.sharing = 4;
  EXPECT_TRUE(attentionStays(shared));
}

TEST(AttentionStays, NotOfOneQuery) {
  Attention decode = usual;
  decode.queries = 1, decode.keys = 1 << 20;
  EXPECT_FALSE(attentionStays(decode));
  Attention few = usual;
  few.queries = 1 << 20, few.keys = 8;
  EXPECT_FALSE(attentionStays(few));
}

TEST(KeyParts, MakeSixteenCellsWhereTheyCan) {
  Attention attention = usual;
  attention.keys = 1024;
  EXPECT_EQ(keyParts(attention), 2);
  attention.heads = 16;
  EXPECT_EQ(keyParts(attention), 1);
  attention.heads = 5;
  EXPECT_EQ(keyParts(attention), 4);
}

TEST(KeyParts, DivideTheKeysEvenly) {
  Attention attention = usual;
  attention.heads = 5;
  attention.keys = 1023;
  EXPECT_EQ(keyParts(attention), 3);
  attention.keys = 1021;
  EXPECT_EQ(keyParts(attention), 0);
}

TEST(KeyParts, NoneOfFewKeysOrHeads) {
  EXPECT_EQ(keyParts(usual), 1); // its heads are cells enough
  Attention few = usual;
  few.heads = 4;
  EXPECT_EQ(keyParts(few), 0);
  few.heads = 1, few.keys = 1 << 20;
  EXPECT_EQ(keyParts(few), 0); // its sums would be many
}

TEST(AttentionStays, NotWhereTilesWouldNotFit) {
  Attention wide = usual;
  wide.valueElements = 4096;
  EXPECT_FALSE(attentionStays(wide));
}

} // namespace
} // namespace tessera::fusion
