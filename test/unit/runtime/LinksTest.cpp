// Simulated links, whose time is the compiler's.
#include "runtime/comm/local/Links.h"
#include "test/unit/runtime/ProgramBuilder.h"

namespace tessera::runtime {
namespace {

// A collective of a 2 x 4 mesh, over the axes that are named.
struct Over {
  explicit Over(const std::vector<int> &axes) {
    auto in = builder.addInput(program::F32, {4}), out = builder.addOutput(program::F32, {4});
    collective =
        builder.collective(program::Collective::ALL_REDUCE, axes, program::F32, {4}, in, out);
    set = *GroupSet::make(collective, *MeshGrid::make(builder.program.mesh()));
    plan.kind = program::Collective::ALL_REDUCE;
    for (int axis : axes)
      plan.axes.push_back({uint32_t(axis), 1, axis ? 4 : 2});
    plan.groupSize = set.size();
  }
  ProgramBuilder builder{{2, 4}};
  program::Collective collective;
  GroupSet set;
  CollectivePlan plan;
};

TEST(LinksTest, CollectivesMeetOnTheLinksOfTheirAxes) {
  Over x({0}), y({1}), both({0, 1});
  Links links(links::Network(), x.builder.program.mesh());
  LinkClock clock(8);
  auto carry = [&](const Over &over, uint32_t group, int64_t now, int64_t nanoseconds) {
    return clock.carry({links.useOf(over.plan).links, nanoseconds}, over.set, group, now);
  };
  // Over x and y at once, they pass each other; of groups beside each other each has its own.
  EXPECT_EQ(carry(x, 0, 100, 10), 110);
  EXPECT_EQ(carry(x, 1, 100, 10), 110);
  EXPECT_EQ(carry(y, 0, 100, 30), 130);
  // Over both axes it needs all links.
  EXPECT_EQ(carry(both, 0, 100, 5), 135);
  EXPECT_EQ(carry(x, 2, 100, 10), 145);
  EXPECT_EQ(carry(x, 2, 200, 10), 210);
}

// Few bytes are doubled: 3 steps among 8. Many are scattered and gathered: 6 steps.
TEST(LinksTest, TimeIsTheCompilers) {
  Over both({0, 1});
  Links links({{1e-3, 1e6}, {}, {}}, both.builder.program.mesh());
  both.plan.bytes = 1;
  EXPECT_EQ(links.useOf(both.plan).nanoseconds, 3'003'000);
  both.plan.bytes = 8'000'000;
  EXPECT_NEAR(links.useOf(both.plan).nanoseconds, 14e9, 0.1e9);
}

// Around a ring that carries both ways, shifts in opposite directions pass each other; all else takes
// both.
TEST(LinksTest, ShiftsTakeOneDirectionOfARing) {
  for (int64_t directions : {1, 2}) {
    Over all({1}), next({1}), before({1});
    next.plan.shift = 1, before.plan.shift = -1;
    Links links({{0, 1, directions}, {}, {}}, all.builder.program.mesh());
    LinkClock clock(8);
    auto carry = [&](const Over &over, int64_t nanoseconds) {
      return clock.carry({links.useOf(over.plan).links, nanoseconds}, over.set, 0, 0);
    };
    EXPECT_EQ(carry(next, 10), 10);
    EXPECT_EQ(carry(before, 20), directions == 2 ? 20 : 30);
    EXPECT_EQ(carry(all, 5), directions == 2 ? 25 : 35);
    EXPECT_EQ(carry(next, 5), directions == 2 ? 30 : 40);
  }
}

} // namespace
} // namespace tessera::runtime
