// Which way totals of shards take, and that it is near the fewest bytes where only bytes cost.
#include "lib/sharding/ShardScan.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::sharding;

static ShardScan plan(int64_t shards, int64_t totals, double alpha, double beta = 1e9) {
  Mesh mesh{"mesh", {{"x", shards}}, {}};
  cost::Topology topology;
  topology.network.link = {alpha, beta};
  return planShardScan(topology, mesh, totals, 4, AxisRefs{{0, 1, shards}});
}

TEST(ShardScan, FewTotalsAreDoubled) {
  EXPECT_EQ(plan(8, 1, 1e-6).chunks, 0);
  EXPECT_DOUBLE_EQ(plan(8, 1, 1e-6).seconds, 3 * (1e-6 + 4e-9));
  EXPECT_EQ(plan(5, 1000, 1e-3).chunks, 0);
}

TEST(ShardScan, TwoShardsSendOnce) {
  EXPECT_EQ(plan(2, 1'000'000, 0).chunks, 0);
  EXPECT_EQ(doublingSteps(2), 1);
}

TEST(ShardScan, StepsReachAllShards) {
  EXPECT_EQ(doublingSteps(3), 2);
  EXPECT_EQ(doublingSteps(8), 3);
  EXPECT_EQ(doublingSteps(9), 4);
}

// Each shard but the first receives one element for each total at least.
TEST(ShardScan, BytesAreWithinATenthOfTheBoundWhereOnlyBytesCost) {
  for (int64_t shards = 3; shards <= 64; ++shards) {
    int64_t totals = 64 * 16 * shards, chunks = plan(shards, totals, 0).chunks;
    ASSERT_GT(chunks, 0);
    int64_t part = (totals + chunks - 1) / chunks;
    EXPECT_LE(double(pipelineSteps(shards, chunks) * part), 1.1 * double(totals)) << shards;
  }
}

TEST(ShardScan, LatencyMakesPartsLarger) {
  int64_t cheap = plan(8, 1'000'000, 1e-7).chunks, expensive = plan(8, 1'000'000, 1e-5).chunks;
  EXPECT_GT(cheap, expensive);
  EXPECT_GT(expensive, 0);
}
