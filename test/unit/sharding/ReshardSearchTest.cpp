#include "lib/sharding/ReshardSearch.h"
#include "test/unit/sharding/RandomShardings.h"
#include "test/unit/sharding/SimulatedDevices.h"

#include "gtest/gtest.h"

namespace tessera::sharding {
namespace {

Mesh mesh2x4() { return {"mesh", {{"x", 2}, {"y", 4}}, {}}; }

struct PlanOf : testing::Test {
  Mesh mesh = mesh2x4();
  AxisRef x{0, 1, 2}, y{1, 1, 4}, y0{1, 1, 2}, y1{1, 2, 2};
  ReshardPlan plan(llvm::ArrayRef<int64_t> shape, TensorSharding from, TensorSharding to) {
    return planReshard(mesh, shape, 4, canonicalLayout(shape, from), canonicalLayout(shape, to),
                       cost::defaultTopology());
  }
  static std::vector<ReshardKind> kinds(const ReshardPlan &plan) {
    std::vector<ReshardKind> out;
    for (const ReshardStep &step : plan.steps)
      out.push_back(step.kind);
    return out;
  }
  static TensorSharding sharding(std::vector<AxisRefs> dims, AxisRefs partial = {}) {
    TensorSharding s;
    for (AxisRefs &axes : dims)
      s.dims.push_back({axes, true, {}});
    s.unreduced = partial;
    return s;
  }
};
using Kinds = std::vector<ReshardKind>;

TEST_F(PlanOf, NothingForEqualLayouts) {
  EXPECT_TRUE(plan({8}, sharding({{x}}), sharding({{x}})).steps.empty());
}

TEST_F(PlanOf, SlicingMovesNothing) {
  ReshardPlan p = plan({8}, sharding({{}}), sharding({{x, y}}));
  EXPECT_EQ(kinds(p), Kinds{ReshardKind::Slice});
  EXPECT_EQ(p.wireBytes, 0);
}

TEST_F(PlanOf, AxisFromOneDimensionToAnotherIsOneAllToAll) {
  ReshardPlan p = plan({64, 64}, sharding({{x, y}, {}}), sharding({{x}, {y}}));
  EXPECT_EQ(kinds(p), Kinds{ReshardKind::AllToAll});
  EXPECT_EQ(p.wireBytes, 64 * 64 * 4 / 8 * 3 / 4);
}

// Reducing everything first would move eight times as much.
TEST_F(PlanOf, PartialValueIsScatteredWhereItIsWanted) {
  ReshardPlan p = plan({64, 64}, sharding({{}, {}}, {x, y}), sharding({{y}, {}}));
  EXPECT_EQ(kinds(p), (Kinds{ReshardKind::ReduceScatter, ReshardKind::AllReduce}));
}

// Both orders cost the same; which it is decides about the last bits.
TEST_F(PlanOf, EachDimensionIsScattered) {
  for (auto dims : {std::vector<AxisRefs>{{x}, {y}}, std::vector<AxisRefs>{{y}, {x}}}) {
    ReshardPlan p = plan({64, 64}, sharding({{}, {}}, {x, y}), sharding(dims));
    EXPECT_EQ(kinds(p), (Kinds{ReshardKind::ReduceScatter, ReshardKind::ReduceScatter}));
  }
}

TEST_F(PlanOf, StaysPartialWhereItMay) {
  EXPECT_EQ(kinds(plan({64}, sharding({{}}, {x, y}), sharding({{}}, {y}))),
            Kinds{ReshardKind::AllReduce});
}

TEST_F(PlanOf, ReorderedAxesArePermuted) {
  EXPECT_EQ(kinds(plan({64}, sharding({{x, y}}), sharding({{y, x}}))), Kinds{ReshardKind::Permute});
}

// Half of y is gathered, the other half takes x's place.
TEST_F(PlanOf, PartsOfAnAxisMoveAlone) {
  ReshardPlan p = plan({4096}, sharding({{y}}), sharding({{x}}));
  EXPECT_LT(p.wireBytes, 4096 * 4 * 3 / 4);
}

// Gathering would bring four tiles of which three are padding.
// Of an axis of 6: a shard by its last 3 and a partial value over its last 2 have no parts in common.
TEST_F(PlanOf, PartsThatDoNotDivideOneAnotherMeetWhole) {
  mesh = {"mesh", {{"x", 6}}, {}};
  ReshardPlan p = plan({60}, sharding({{}}, {{0, 3, 2}}), sharding({{{0, 2, 3}}}));
  EXPECT_EQ(kinds(p), (Kinds{ReshardKind::AllReduce, ReshardKind::Slice}));
  TensorSharding partial = sharding({{}}, {{0, 3, 2}});
  EXPECT_FALSE(plan({60}, sharding({{{0, 2, 3}}}), partial).steps.empty());
}

TEST_F(PlanOf, OneRowIsBroadcast) {
  ReshardPlan p = plan({1, 4096}, sharding({{y}, {}}), sharding({{}, {}}));
  EXPECT_EQ(kinds(p), Kinds{ReshardKind::Broadcast});
  EXPECT_EQ(p.wireBytes, 4096 * 4);
}

// Two rows of eight tiles: a gather would bring six of padding.
TEST_F(PlanOf, FewRowsMeetOnTheFirstShard) {
  ReshardPlan p = plan({2, 4096}, sharding({{x, y}, {}}), sharding({{}, {}}));
  EXPECT_EQ(kinds(p), (Kinds{ReshardKind::Retile, ReshardKind::Broadcast}));
  EXPECT_EQ(p.wireBytes, 3 * 4096 * 4);
}

TEST_F(PlanOf, UnevenTilesMoveBetweenNeighbours) {
  // [0..4][5..9] -> tile 6 -> [0..2][3..5][6..8][9..]
  mesh = {"mesh", {{"x", 2}, {"y", 2}}, {}};
  y = {1, 1, 2};
  ReshardPlan p = plan({1000 + 2}, sharding({{x}}), sharding({{x, y}}));
  EXPECT_EQ(kinds(p), (Kinds{ReshardKind::Retile, ReshardKind::Slice}));
}

// On dimensions, half of y would be gathered before x can leave the same dimension.
TEST_F(PlanOf, DigitsMoveFromTheMiddleOfADimension) {
  Mesh cube{"mesh", {{"x", 2}, {"y", 2}}, {}};
  mesh = cube;
  AxisRef y2{1, 1, 2};
  ReshardPlan p = plan({4096, 4096}, sharding({{x, y2}, {}}), sharding({{}, {x}}));
  EXPECT_EQ(kinds(p), (Kinds{ReshardKind::View, ReshardKind::AllToAll, ReshardKind::AllGather,
                             ReshardKind::View}));
  EXPECT_EQ(p.wireBytes, 4096 * 4096 * 4 / 2 * 3 / 4);
}

// Both dimensions' axes go to the third at once: half of the array twice would be more than three
// quarters of it once.
TEST_F(PlanOf, OneAllToAllFromTwoDimensions) {
  ReshardPlan p = plan({64, 64, 64}, sharding({{x}, {y0}, {}}), sharding({{}, {}, {x, y0}}));
  EXPECT_EQ(kinds(p), (Kinds{ReshardKind::View, ReshardKind::AllToAll, ReshardKind::View}));
  EXPECT_EQ(p.wireBytes, 64 * 64 * 64 * 4 / 4 * 3 / 4);
}

// A path that was found rules out all that takes longer; without that the search ended before it had this one.
TEST_F(PlanOf, WhatIsFoundLeavesTimeForTheRestOfManyStates) {
  cost::Topology topology = cost::defaultTopology();
  topology.network.axes.clear();
  topology.network.levels = {{"host", 8, {2.5e-6, 4.5e11, 1}}, {"pod", 0, {5e-6, 5e10, 1}}};
  topology.computingAtOnce = 0;
  mesh = {"mesh", {{"x", 8}, {"y", 2}, {"z", 4}}, {}};
  AxisRef x{0, 1, 8}, y{1, 1, 2}, z{2, 1, 4};
  llvm::SmallVector<int64_t> shape{2048, 256};
  ReshardPlan p = planReshard(mesh, shape, 1, canonicalLayout(shape, sharding({{y}, {x}}, {z})),
                              canonicalLayout(shape, sharding({{}, {y, z}})), topology);
  EXPECT_EQ(kinds(p),
            (Kinds{ReshardKind::AllReduce, ReshardKind::AllGather, ReshardKind::Permute}));
}

TEST(RetileShifts, RowsByDistance) {
  auto shifts =
      retileShifts(10, 2, 5, 6); // device 0 needs row 5 from device 1, which needs 6..9 of its own
  ASSERT_EQ(shifts.size(), 2u);
  EXPECT_EQ(shifts[0].distance, 0);
  EXPECT_EQ(shifts[1].distance, 1);
  EXPECT_EQ(shifts[1].rows, 1);
}

// Any layout, and the one that any plan leads to, hold the same tensor: uneven sizes, parts of
// axes, partial values.
TEST(ReshardPlans, ExecutedOnSimulatedDevices) {
  cost::Topology bytesOnly = cost::defaultTopology();
  bytesOnly.network.link.alpha = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    llvm::SmallVector<int64_t> shape;
    for (int64_t n = 1 + random(3); n > 0; --n)
      shape.push_back(1 + random(random(2) ? 6 : 24));
    TensorSharding a = random.sharding(mesh, shape.size(), true);
    TensorSharding b = random.sharding(mesh, shape.size(), false);
    LocalLayout from = canonicalLayout(shape, a), to = canonicalLayout(shape, b);
    if (!from.dims.empty() && random(3) == 0)
      from.dims[0].tile += 1 + random(3);
    ReshardPlan plan =
        planReshard(mesh, shape, 4, from, to, seed % 4 ? bytesOnly : cost::defaultTopology());
    Devices devices(mesh, shape, from);
    ASSERT_EQ(devices.wrong(), 0);
    for (const ReshardStep &step : plan.steps) {
      devices.execute(step);
      ASSERT_EQ(devices.wrong(), 0)
          << "after step " << (&step - plan.steps.data()) << " of kind " << int(step.kind);
      if (testing::Test::HasFailure())
        return;
    }
    EXPECT_TRUE(plan.steps.empty() ? from == to
                                   : localShape(devices.getLayout()) == localShape(to));
    for (size_t d = 0; d < shape.size(); ++d)
      EXPECT_EQ(normalized(devices.getLayout().dims[d].axes), normalized(to.dims[d].axes));
    EXPECT_EQ(shardCount(devices.getLayout().partial), 1);
  }
}

} // namespace
} // namespace tessera::sharding
