#include "lib/cost/StepTime.h"

#include "gtest/gtest.h"

namespace tessera::cost {
namespace {

TEST(StepTime, OneThingAfterAnotherAsOftenAsItHappens) {
  Topology pod;
  pod.network.link = {0, 1e9};
  pod.device.flopsPerSecond = 1e12;
  pod.device.bytesPerSecond = 1e10;
  sharding::Mesh mesh{"mesh", {{"x", 4}}, {}};
  std::vector<Repeated<Compute>> kernels = {{{1e9, 0}, 3}, {{1e9, 1e8}, 1}}; // 1 ms each, and 10 ms
  std::vector<Repeated<Transfer>> moves = {
      {{CollectiveKind::AllGather, 4e6, {sharding::AxisRef{0, 1, 4}}}, 2}}; // 3 ms each
  StepTime step = stepTime(pod, mesh, kernels, moves);
  EXPECT_DOUBLE_EQ(step.compute, 3 * 1e-3 + 1e-2);
  EXPECT_DOUBLE_EQ(step.communication, 2 * 3e-3);
  EXPECT_DOUBLE_EQ(step.seconds(), 1.9e-2);
  EXPECT_DOUBLE_EQ(step.flops, 4e9);
}

} // namespace
} // namespace tessera::cost
