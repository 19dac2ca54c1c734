#include "lib/cost/Topology.h"
#include "lib/cost/Exchange.h"
#include "lib/cost/TopologyText.h"

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
  Topology pod;
  pod.network = {{1e-6, 1e11}, {{"data", {1e-5, 1e9}}}, {}};
  sharding::Mesh mesh{"mesh", {{"data", 2}, {"model", 4}}, {}};
  sharding::AxisRef data{0, 1, 2}, model{1, 1, 4};
  EXPECT_DOUBLE_EQ(collectiveSeconds(pod, mesh, CollectiveKind::Permute, 1e9, data), 1e-5 + 1);
  EXPECT_DOUBLE_EQ(collectiveSeconds(pod, mesh, CollectiveKind::Permute, 1e9, model), 1e-6 + 1e-2);
  EXPECT_DOUBLE_EQ(pod.linkAlong(mesh, {data, model}).beta, 1e9);
}

TEST(CollectiveSeconds, AnAllReduceTakesAsManyStepsAsItsBytesAreWorth) {
  const Link link{1e-6, 1e9};
  Topology host;
  host.network.link = link;
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

TEST(CollectiveSeconds, AnAxisHasTheLinksOfTheSmallestLevelThatHoldsIt) {
  Topology pod;
  pod.network.levels = {
      {"host", 4, {1e-6, 1e11}}, {"rack", 8, {2e-6, 1e10}}, {"pod", 0, {1e-5, 1e9}}};
  sharding::Mesh mesh{"mesh", {{"data", 4}, {"model", 4}}, {}};
  auto beta = [&](sharding::AxisRef ref) { return pod.linkAlong(mesh, ref).beta; };
  EXPECT_EQ(beta({1, 1, 4}), 1e11); // devices 0 1 2 3
  EXPECT_EQ(beta({0, 2, 2}), 1e10); // 0 4
  EXPECT_EQ(beta({0, 1, 2}), 1e9);  // 0 8
  EXPECT_EQ(beta({0, 1, 4}), 1e9);
  pod.network.axes["data"] = {0, 7};
  EXPECT_EQ(beta({0, 1, 4}), 7);
}

TEST(TopologyText, HasWhatIsThere) {
  Topology pod;
  pod.name = "a \"pod\"";
  pod.device.flopsByType = {{"bf16", 3e14}};
  pod.network.levels = {{"host", 8, {1e-6, 1e11}}};
  std::string text = topologyText(pod);
  for (const char *part :
       {R"("name": "a \"pod\"")", R"("bf16": 3e+14)", R"("devices": 8)", R"("axes": {})"})
    EXPECT_NE(text.find(part), text.npos) << part << " in\n" << text;
}

TEST(CollectiveSeconds, AGroupOfOneCostsNothing) {
  sharding::Mesh mesh{"mesh", {{"x", 1}}, {}};
  EXPECT_EQ(collectiveSeconds(defaultTopology(), mesh, CollectiveKind::AllReduce, 1e9,
                              sharding::AxisRef{0, 1, 1}),
            0);
}

// Eight devices that share a memory on two cores: four turns of what each reads and writes, and while
// all of them meet one core has nothing to do.
TEST(CollectiveTime, CountsWhatCoresCarry) {
  sharding::Mesh mesh{"mesh", {{"x", 8}}, {}};
  sharding::AxisRef x{0, 1, 8};
  Topology machine;
  machine.network.link = {0, 1e15};
  machine.computingAtOnce = 2;
  machine.device.meetingSeconds = 1e-6;
  machine.device.kernels = {{"exchanged", 1e9}, {"combined", 5e8}};
  auto cores = [&](CollectiveKind kind) {
    return collectiveTime(machine, mesh, kind, 1e6, x).cores;
  };
  EXPECT_DOUBLE_EQ(cores(CollectiveKind::AllGather), 4 * (2e-6 + 1.25e-3));
  EXPECT_DOUBLE_EQ(cores(CollectiveKind::AllToAll), 4 * (2e-6 + 2e-3));
  EXPECT_DOUBLE_EQ(cores(CollectiveKind::AllReduce), 4 * (2e-6 + 4e-3));
  EXPECT_DOUBLE_EQ(cores(CollectiveKind::ReduceScatter), 4 * (2e-6 + 2.25e-3));
  EXPECT_DOUBLE_EQ(collectiveSeconds(machine, mesh, CollectiveKind::AllReduce, 1e6, x),
                   4 * (2e-6 + 4e-3));
  EXPECT_EQ(collectiveTime(defaultTopology(), mesh, CollectiveKind::AllReduce, 1e6, x).cores, 0);
  EXPECT_EQ(collectiveTime(machine, mesh, CollectiveKind::AllReduce, 1e6, {}).cores, 0);
}

// Of few bytes one core carries all; over two groups each carries one.
TEST(Exchange, KeepsCoresThatHaveNoPartOfIt) {
  auto exchanged = [](int64_t bytes, int64_t group, int64_t devices, int64_t cores) {
    Exchange exchange = exchangeOf(CollectiveKind::AllToAll, double(bytes), group, devices, cores);
    return std::pair(exchange.terms[Term::Exchanged] / double(2 * bytes), exchange.meetings);
  };
  EXPECT_EQ(exchanged(8 << 10, 8, 8, 2), std::pair(2.0, 2.0));   // 128 KB of all: of one
  EXPECT_EQ(exchanged(9 << 10, 8, 8, 2), std::pair(1.0, 2.0));   // shared
  EXPECT_EQ(exchanged(9 << 10, 8, 8, 4), std::pair(4 / 3., 4.)); // by three
  EXPECT_EQ(exchanged(1 << 10, 4, 8, 2), std::pair(1.0, 1.0));
  EXPECT_EQ(exchanged(1 << 10, 2, 8, 8), std::pair(2.0, 2.0)); // a core each: four are carried out
  EXPECT_EQ(exchanged(1 << 10, 8, 8, 16), std::pair(8.0, 8.0));
  EXPECT_EQ(exchangeOf(CollectiveKind::AllGather, 1e6, 1, 8, 2).meetings, 0);
  // Written by each, read once by each of two cores.
  Exchange gather = exchangeOf(CollectiveKind::AllGather, 1e6, 8, 8, 2);
  EXPECT_EQ(gather.terms[Term::Exchanged], 1e6 + 0.25e6);
}

TEST(ComputeSeconds, CountsTurnsAndTheCache) {
  sharding::Mesh mesh{"mesh", {{"x", 8}}, {}};
  Topology machine;
  EXPECT_DOUBLE_EQ(computeSeconds(machine, mesh, 2e10, 2e10), 2); // the roofline
  machine.computingAtOnce = 2;
  EXPECT_DOUBLE_EQ(computeSeconds(machine, mesh, 2e10, 2e10), 8);
  machine.device.cacheBytes = 100;
  machine.device.kernels = {{"warm", 1e3}, {"streams", 1e2}};
  EXPECT_DOUBLE_EQ(computeSeconds(machine, mesh, 0, 100), 0.4);
  EXPECT_DOUBLE_EQ(computeSeconds(machine, mesh, 0, 200), 8);
}

} // namespace
} // namespace tessera::cost
