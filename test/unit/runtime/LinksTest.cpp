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
    plan.axes.assign(axes.begin(), axes.end());
    plan.groupSize = set.size();
  }
  ProgramBuilder builder{{2, 4}};
  program::Collective collective;
  GroupSet set;
  CollectivePlan plan;
};

TEST(LinksTest, CollectivesMeetOnTheLinksOfTheirAxes) {
  Over x({0}), y({1}), both({0, 1});
  LinkClock clock(x.builder.program.mesh(), 8);
  // Over x and y at once, they pass each other; of groups beside each other each has its own.
  EXPECT_EQ(clock.carry(x.plan, x.set, 0, 100, 10), 110);
  EXPECT_EQ(clock.carry(x.plan, x.set, 1, 100, 10), 110);
  EXPECT_EQ(clock.carry(y.plan, y.set, 0, 100, 30), 130);
  // Over both axes it needs all links.
  EXPECT_EQ(clock.carry(both.plan, both.set, 0, 100, 5), 135);
  EXPECT_EQ(clock.carry(x.plan, x.set, 2, 100, 10), 145);
  EXPECT_EQ(clock.carry(x.plan, x.set, 2, 200, 10), 210);
}

// Few bytes are doubled: 3 steps among 8. Many are scattered and gathered: 6 steps.
TEST(LinksTest, TimeIsTheCompilers) {
  Over both({0, 1});
  Links links({{1e-3, 1e6}, {}, {}}, both.builder.program.mesh());
  both.plan.bytes = 1;
  EXPECT_EQ(links.nanoseconds(both.plan), 3'003'000);
  both.plan.bytes = 8'000'000;
  EXPECT_NEAR(links.nanoseconds(both.plan), 14e9, 0.1e9);
}

} // namespace
} // namespace tessera::runtime
