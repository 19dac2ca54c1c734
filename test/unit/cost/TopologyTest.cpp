#include "lib/cost/Topology.h"

#include "gtest/gtest.h"

namespace tessera::cost {
namespace {

TEST(WireBytes, OfARing) {
  EXPECT_EQ(wireBytes(CollectiveKind::AllReduce, 800, 4), 1200);
  EXPECT_EQ(wireBytes(CollectiveKind::AllGather, 800, 4), 600);
  EXPECT_EQ(wireBytes(CollectiveKind::ReduceScatter, 800, 4), 600);
  EXPECT_EQ(wireBytes(CollectiveKind::AllToAll, 800, 4), 600);
  EXPECT_EQ(wireBytes(CollectiveKind::Permute, 800, 4), 800);
}

TEST(CollectiveSeconds, SlowestAxisOfTheGroupCounts) {
  Topology pod{"pod", {1e-6, 1e11}, {{"data", {1e-5, 1e9}}}, 1e14, 1e12};
  sharding::Mesh mesh{"mesh", {{"data", 2}, {"model", 4}}, {}};
  sharding::AxisRef data{0, 1, 2}, model{1, 1, 4};
  EXPECT_DOUBLE_EQ(collectiveSeconds(pod, mesh, CollectiveKind::Permute, 1e9, data), 1e-5 + 1);
  EXPECT_DOUBLE_EQ(collectiveSeconds(pod, mesh, CollectiveKind::Permute, 1e9, model), 1e-6 + 1e-2);
  EXPECT_DOUBLE_EQ(pod.linkAlong(mesh, {data, model}).beta, 1e9);
}

TEST(CollectiveSeconds, AGroupOfOneCostsNothing) {
  sharding::Mesh mesh{"mesh", {{"x", 1}}, {}};
  EXPECT_EQ(collectiveSeconds(defaultTopology(), mesh, CollectiveKind::AllReduce, 1e9,
                              sharding::AxisRef{0, 1, 1}),
            0);
}

} // namespace
} // namespace tessera::cost
