// Devices that share cores.
#include "lib/cost/StepTime.h"

#include "gtest/gtest.h"

namespace tessera::cost {
namespace {

// In groups of neighbours: a core computes so long for its four devices, and links carry so long; three times
// over. `groups`: of eight devices on two cores.
StepTime threeLayers(double compute, double carry, const std::vector<uint32_t> &groups) {
  std::vector<Work> works;
  for (int64_t layer = 0; layer < 3; ++layer) {
    works.push_back({.kind = Work::Compute, .seconds = compute});
    works.push_back(
        {.kind = Work::Start, .seconds = carry, .links = 1, .site = layer, .groups = groups});
    works.push_back({.kind = Work::Wait, .site = layer});
  }
  return predict({works}, 0, poolOf(8, 2)).time;
}

const std::vector<uint32_t> kTwoGroups = {0, 0, 0, 0, 4, 4, 4, 4};
constexpr double kNear = 1e-6;

TEST(CorePool, ACollectiveOfAllDevicesIsAwaitedByAll) {
  StepTime time = threeLayers(4, 2, {});
  EXPECT_NEAR(time.seconds, 18, kNear);
  EXPECT_NEAR(time.exposed, 6, kNear);
}

// At first both groups come together. Then a core that has nothing to do computes for the other group, and one of
// a core's four devices is done while its links carry: the second layer takes one less. The last is awaited whole.
TEST(CorePool, GroupsThatAreLateStaySo) {
  StepTime time = threeLayers(4, 2, kTwoGroups);
  EXPECT_NEAR(time.seconds, 6 + 5 + 6, kNear);
  EXPECT_EQ(time.compute, 12);
}

// Pairs over both cores: the first goes on while the cores compute for the others.
TEST(CorePool, PairsWaitForEachOtherOnly) {
  StepTime time = threeLayers(4, 2, {0, 1, 2, 3, 0, 1, 2, 3});
  EXPECT_NEAR(time.seconds, 14, kNear); // 2 behind the last
}

// Whoever starts a collective lets the others of its core come before it goes on.
TEST(CorePool, AStartedCollectiveIsHiddenByWhatAllCompute) {
  std::vector<Work> works = {{.kind = Work::Start, .seconds = 4, .links = 1},
                             {.kind = Work::Compute, .seconds = 4},
                             {.kind = Work::Wait}};
  EXPECT_NEAR(predict({works}, 0, poolOf(8, 2)).time.seconds, 4, kNear);
}

TEST(CorePool, LoopsTakeWhatTheirTripsTake) {
  std::vector<Work> body = {{.kind = Work::Compute, .seconds = 4},
                            {.kind = Work::Start, .seconds = 2, .links = 1, .groups = kTwoGroups},
                            {.kind = Work::Wait}};
  auto seconds = [&](int64_t trips) {
    Work loop{.kind = Work::Loop, .trips = trips, .blocks = {0}};
    return predict({body, {loop}}, 0, poolOf(8, 2)).time.seconds;
  };
  EXPECT_NEAR(seconds(1000) - seconds(999), seconds(999) - seconds(998), kNear);
  EXPECT_LT(seconds(1000), 5.5 * 1000);
}

// What cores exchange in each trip is as much theirs as what they compute. (Where devices caught up in the third
// trip, all others were as short as that one.)
TEST(CorePool, TripsTakeWhatCoresComputeAndExchange) {
  std::vector<Work> body = {{.kind = Work::Compute, .seconds = 4}};
  for (int64_t site : {0, 1}) {
    body.push_back({.kind = Work::Start, .own = 2, .site = site});
    body.push_back({.kind = Work::Wait, .site = site});
  }
  Work loop{.kind = Work::Loop, .trips = 100, .blocks = {0}};
  EXPECT_GE(predict({body, {loop}}, 0, poolOf(8, 2)).time.seconds, 100 * (4 + 2 * 2) - kNear);
}

TEST(CorePool, IsOfOneWhereDevicesHaveCoresOfTheirOwn) {
  EXPECT_EQ(poolOf(8, 8).devices(), 1u);
  EXPECT_EQ(poolOf(8, 0).devices(), 1u);
  EXPECT_EQ(poolOf(6, 4).devices(), 1u);
  EXPECT_EQ(poolOf(8, 2).devices(), 8u);
  EXPECT_EQ(poolOf(1 << 20, 2).devices(), 1u);
}

TEST(CorePool, GroupsLieAlongAxes) {
  sharding::Mesh mesh;
  mesh.axes = {{"x", 2}, {"y", 4}};
  EXPECT_EQ(groupsAlong(mesh, {{1, 1, 4}}), kTwoGroups);
  EXPECT_EQ(groupsAlong(mesh, {{0, 1, 2}}), (std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(groupsAlong(mesh, {{1, 2, 2}}), (std::vector<uint32_t>{0, 0, 2, 2, 4, 4, 6, 6}));
}

} // namespace
} // namespace tessera::cost
