// What the compiler predicts of collectives is what the runtime's simulated links take.
#include "lib/cost/StepTime.h"
#include "lib/cost/Topology.h"
#include "runtime/comm/local/Links.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

using cost::CollectiveKind;
using runtime::CollectivePlan;
using runtime::GroupSet;
using sharding::AxisRef;

const sharding::Mesh kMesh{"mesh", {{"x", 2}, {"y", 4}, {"z", 4}}, {}};

program::Mesh toProgram(const sharding::Mesh &mesh) {
  program::Mesh to;
  for (const sharding::MeshAxis &axis : mesh.axes) {
    to.add_axes()->set_name(axis.name);
    to.mutable_axes()->rbegin()->set_size(axis.size);
  }
  return to;
}

// The same collective for both.
struct Both {
  Both(CollectiveKind kind, int64_t bytes, sharding::AxisRefs axes)
      : kind(kind), axes(std::move(axes)), bytes(bytes) {
    program::Collective collective;
    for (const AxisRef &axis : this->axes) {
      auto *ref = collective.add_axes();
      ref->set_axis(axis.axis);
      ref->set_pre_size(axis.preSize);
      ref->set_size(axis.size);
      plan.axes.push_back({uint32_t(axis.axis), axis.preSize, axis.size});
    }
    set = *GroupSet::make(collective, *runtime::MeshGrid::make(toProgram(kMesh)));
    plan.groupSize = set.size();
    plan.bytes = bytes;
    switch (kind) {
    case CollectiveKind::AllReduce:
      plan.kind = program::Collective::ALL_REDUCE;
      break;
    case CollectiveKind::AllGather:
      plan.kind = program::Collective::ALL_GATHER;
      break;
    case CollectiveKind::ReduceScatter:
      plan.kind = program::Collective::REDUCE_SCATTER;
      break;
    case CollectiveKind::AllToAll:
      plan.kind = program::Collective::ALL_TO_ALL;
      break;
    case CollectiveKind::Permute:
      plan.kind = program::Collective::PERMUTE;
      break;
    case CollectiveKind::Broadcast:
      plan.kind = program::Collective::BROADCAST;
      break;
    }
  }
  CollectiveKind kind;
  sharding::AxisRefs axes;
  int64_t bytes;
  CollectivePlan plan;
  GroupSet set;
};

std::vector<links::Network> networks() {
  links::Network flat, named, levels, torus;
  flat.link = {1e-4, 1e7};
  named.link = flat.link;
  named.axes["y"] = {1e-3, 1e6};
  levels.levels = {{"host", 8, {1e-5, 1e8}}, {"pod", 0, {1e-4, 1e7}}};
  torus.link = {1e-5, 1e8, 2};
  return {flat, named, levels, torus};
}

std::vector<sharding::AxisRefs> groups() {
  AxisRef x{0, 1, 2}, y{1, 1, 4}, z{2, 1, 4};
  return {{x}, {y}, {z}, {x, y}, {y, z}, {x, y, z}, {AxisRef{1, 2, 2}}, {x, AxisRef{2, 1, 2}}};
}

TEST(SimulatedLinksTest, EachCollectiveTakesWhatIsPredicted) {
  for (const links::Network &network : networks()) {
    cost::Topology topology;
    topology.network = network;
    runtime::Links simulated(network, toProgram(kMesh));
    for (const sharding::AxisRefs &axes : groups())
      for (CollectiveKind kind :
           {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
            CollectiveKind::AllToAll, CollectiveKind::Permute, CollectiveKind::Broadcast})
        for (int64_t bytes : {4, 4096, 4'000'000}) {
          Both both(kind, bytes, axes);
          runtime::LinkUse use = simulated.useOf(both.plan);
          double predicted =
              cost::collectiveSeconds(topology, kMesh, kind, double(bytes), both.axes);
          EXPECT_NEAR(double(use.nanoseconds), predicted * 1e9, 1);
          EXPECT_EQ(use.links, topology.routeOf(kMesh, axes).links);
        }
  }
}

// All at once, in all orders of some: those that share a link wait for each other, in both.
TEST(SimulatedLinksTest, SeveralAtOnceTakeWhatIsPredicted) {
  for (const links::Network &network : networks()) {
    cost::Topology topology;
    topology.network = network;
    runtime::Links simulated(network, toProgram(kMesh));
    std::vector<sharding::AxisRefs> all = groups();
    for (size_t first = 0; first < all.size(); ++first) {
      runtime::LinkClock clock(32);
      std::vector<cost::Work> works;
      int64_t last = 0;
      for (size_t i = 0; i < 3; ++i) { // such as {x, y} beside {x}
        Both both(CollectiveKind::AllReduce, 1'000'000 << i, all[(first + 2 * i) % all.size()]);
        runtime::LinkUse use = simulated.useOf(both.plan);
        for (uint32_t group = 0; group < both.set.count(); ++group)
          last = std::max(last, clock.carry(use, both.set, group, 0));
        cost::Work start;
        start.kind = cost::Work::Start;
        start.site = int64_t(i);
        start.seconds =
            cost::collectiveSeconds(topology, kMesh, both.kind, double(both.bytes), both.axes);
        start.links = topology.routeOf(kMesh, both.axes).links;
        works.push_back(start);
      }
      EXPECT_NEAR(cost::predict({works}).time.seconds * 1e9, double(last), 10);
    }
  }
}

} // namespace
} // namespace tessera
