// The links of a branch: also those of the block that takes less time.
#include "lib/cost/BranchLinks.h"

#include <gtest/gtest.h>

namespace tessera::cost {
namespace {

// Only the longer block's were counted: a collective seemed to go on beside a branch that waits for the
// same links.
TEST(BranchLinks, EitherBlockHoldsItsLinks) {
  LinkUse longer{1, 3, 2}, shorter{2, 1, 1};
  LinkUse both = eitherOf(longer, 8, shorter, 5);
  EXPECT_EQ(both.links, 3u);
  EXPECT_EQ(both.from, 3); // the shorter one's may begin 4 s after the branch
  EXPECT_EQ(both.until, 2);
  EXPECT_EQ(eitherOf(shorter, 5, longer, 8).from, 3);
}

TEST(BranchLinks, TheShorterBlockHasTimeLeft) {
  LinkUse shorter{2, 1, 1};
  for (LinkUse use : {eitherOf({}, 8, shorter, 5), eitherOf(shorter, 5, {}, 8)}) {
    EXPECT_EQ(use.links, 2u);
    EXPECT_EQ(use.from, 4);
    EXPECT_EQ(use.until, 4);
  }
  EXPECT_EQ(eitherOf({}, 1, {}, 2).links, 0u);
}

} // namespace
} // namespace tessera::cost
