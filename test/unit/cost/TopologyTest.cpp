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

TEST(CollectiveSeconds, AnAllReduceTakesAsManyStepsAsItsBytesAreWorth) {
  const Link link{1e-6, 1e9};
  Topology host{"host", link, {}, 1e10, 1e10};
  sharding::Mesh mesh{"mesh", {{"x", 8}}, {}};
  auto seconds = [&](CollectiveKind kind, double bytes, int64_t size) {
    return collectiveSeconds(host, mesh, kind, bytes, sharding::AxisRef{0, 1, size});
  };
  // A number is doubled in three steps; much data is scattered in two, exchanged in one, gathered
  // in two.
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::AllReduce, 4, 8), 3 * (1e-6 + 4e-9));
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::AllReduce, 8e6, 8), 5e-6 + 14e-3);
  // Never slower than the same in pieces.
  for (double bytes = 1; bytes < 1e9; bytes *= 4)
    for (int64_t part : {2, 4})
      EXPECT_LE(seconds(CollectiveKind::AllReduce, bytes, 8),
                1.000001 * (seconds(CollectiveKind::ReduceScatter, bytes, part) +
                            seconds(CollectiveKind::AllReduce, bytes / part, 8 / part) +
                            seconds(CollectiveKind::AllGather, bytes, part)));
}

TEST(CollectiveSeconds, AGroupOfOneCostsNothing) {
  sharding::Mesh mesh{"mesh", {{"x", 1}}, {}};
  EXPECT_EQ(collectiveSeconds(defaultTopology(), mesh, CollectiveKind::AllReduce, 1e9,
                              sharding::AxisRef{0, 1, 1}),
            0);
}

} // namespace
} // namespace tessera::cost
