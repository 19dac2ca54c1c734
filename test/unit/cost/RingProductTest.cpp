#include "lib/cost/RingProduct.h"

#include "gtest/gtest.h"

namespace tessera::cost {
namespace {

// As in the header's picture: a product of 8 s, of four shards; gathering takes 8 s, a shift 8 / 3.
RingProduct four() {
  RingProduct ring{};
  ring.shards = 4;
  ring.product = 8, ring.collective = 8;
  ring.part = 2, ring.shift = 8.0 / 3;
  return ring;
}

TEST(RingProduct, ShardsTravelWhileOthersAreMultiplied) {
  EXPECT_DOUBLE_EQ(wholeSeconds(four()), 16);
  EXPECT_DOUBLE_EQ(ringSeconds(four()), 2 + 8); // three shifts, and the last product
  EXPECT_TRUE(paysAsRing(four(), true));
}

TEST(RingProduct, ComputesAsLongAsItTakesWhereLinksAreFaster) {
  RingProduct ring = four();
  ring.shift = 1;
  EXPECT_DOUBLE_EQ(ringSeconds(ring), 4 * 2);
}

TEST(RingProduct, GainsNothingWhereTheCollectiveIsHiddenAnyway) {
  RingProduct ring = four();
  ring.hideable = 20;
  EXPECT_DOUBLE_EQ(wholeSeconds(ring), 8);
  EXPECT_FALSE(paysAsRing(ring, true));
}

// What hides is looked for only where the ring may pay, which misses none.
TEST(RingProduct, MayPayWhereItPaysWithSomethingHideable) {
  int without = 0, with = 0;
  for (double last : {0.0, 2.0})
    for (double block : {0.0, 12.0, 100.0})
      for (double part : {2.0, 3.0, 5.0})
        for (double shift : {0.0, 0.05, 0.1, 0.2, 0.5, 8.0 / 3})
          for (double bytes : {90.0, 102.0, 104.0, 130.0, 155.0, 200.0}) {
            RingProduct ring = four();
            ring.blockSeconds = block, ring.part = part, ring.shift = shift, ring.last = last;
            ring.wholeBytes = 100, ring.ringBytes = bytes;
            bool pays = false, alone = paysAsRing(ring, true);
            for (ring.hideable = 0; ring.hideable <= 10; ring.hideable += 0.25)
              pays |= paysAsRing(ring, true);
            EXPECT_LE(pays, mayPayAsRing(ring, true))
                << last << " " << block << " " << part << " " << shift << " " << bytes;
            without += alone, with += pays && !alone;
          }
  EXPECT_GT(without, 0);
  EXPECT_GT(with, 0) << "what is saved is bounded, and the whole takes less the more hides";
}

TEST(RingProduct, MayNotPayWhereNothingTravelsBeside) {
  RingProduct ring = four();
  EXPECT_TRUE(mayPayAsRing(ring, true));
  ring.shift = 0;
  EXPECT_FALSE(mayPayAsRing(ring, false));
  ring = four();
  ring.part = 5; // longer than the product and the collective together
  EXPECT_FALSE(mayPayAsRing(ring, false));
}

TEST(RingProduct, CountsWhatTheLoopAdds) {
  RingProduct ring = four();
  ring.between = 2, ring.around = 1;
  EXPECT_DOUBLE_EQ(ringSeconds(ring), 1 + 2 + 8 + 3 * 2);
  EXPECT_FALSE(paysAsRing(ring, true));
}

// Devices that share a memory: cores do what is exchanged, in between, and smaller products seem to be
// quicker as their operands fit into a cache.
TEST(RingProduct, SavesNoMoreThanItHides) {
  RingProduct ring = four();
  ring.shift = 0, ring.between = 2, ring.part = 1;
  EXPECT_DOUBLE_EQ(ringSeconds(ring), 10);
  EXPECT_FALSE(paysAsRing(ring, false));
  ring.shift = 0.5; // of 16 s
  EXPECT_TRUE(paysAsRing(ring, false));
}

// Of a reduce-scatter in parts: what can run beside the whole collective can run beside the last part's.
TEST(RingProduct, TheLastPartsCollectiveIsHiddenByWhatIsBeside) {
  RingProduct parts = four();
  parts.shift = parts.last = 2;
  EXPECT_DOUBLE_EQ(ringSeconds(parts), 2 + 3 * 2 + 2);
  parts.hideable = 1.5;
  EXPECT_DOUBLE_EQ(ringSeconds(parts), 2 + 3 * 2 + 0.5);
  parts.hideable = 7;
  EXPECT_DOUBLE_EQ(ringSeconds(parts), 8);
  EXPECT_DOUBLE_EQ(wholeSeconds(parts), 9);
  EXPECT_TRUE(paysAsRing(parts, true));
  parts.hideable = 8; // all of it
  EXPECT_FALSE(paysAsRing(parts, true));
}

TEST(RingProduct, SmallerProductsMayTakeLongerTogether) {
  RingProduct ring = four();
  ring.part = 5; // of 8 / 4 that it would be
  EXPECT_FALSE(paysAsRing(ring, true));
}

TEST(RingProduct, MemoryHasToBeWorthIt) {
  RingProduct ring = four(); // saves 6 of 16 seconds
  ring.wholeBytes = 100, ring.ringBytes = 150;
  EXPECT_TRUE(paysAsRing(ring, true));
  ring.ringBytes = 160;
  EXPECT_FALSE(paysAsRing(ring, true));
  EXPECT_TRUE(paysAsRing(ring, false));
  ring.room = 1;
  EXPECT_TRUE(paysAsRing(ring, true));
}

TEST(RingProduct, MemoryIsWorthWhatItIsOfTheBlock) {
  RingProduct ring = four(); // saves 6 seconds
  ring.wholeBytes = 100, ring.ringBytes = 190;
  ring.blockSeconds = 16, ring.peakBytes = 300;
  EXPECT_TRUE(paysAsRing(ring, true)); // 30% more for 37% less
  ring.blockSeconds = 26;
  EXPECT_FALSE(paysAsRing(ring, true)); // .. for 23% less
  ring.room = 30;
  EXPECT_TRUE(paysAsRing(ring, true)); // 20% more
}

} // namespace
} // namespace tessera::cost
