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

TEST(AttentionStays, NotWhereTilesWouldNotFit) {
  Attention wide = usual;
  wide.valueElements = 4096;
  EXPECT_FALSE(attentionStays(wide));
}

} // namespace
} // namespace tessera::fusion
