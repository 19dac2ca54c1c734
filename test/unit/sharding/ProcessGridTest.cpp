// Tables of replicas and partitions as devices: the specification's own examples, and the edges.
#include "lib/sharding/ProcessGrid.h"
#include "lib/sharding/DeviceGroups.h"

#include <gtest/gtest.h>

namespace tessera::sharding {
namespace {

TEST(ProcessGrid, EachAddressingOfTwoReplicasAndTwoPartitions) {
  ProcessGrid grid{2, 2};
  DeviceGroups table{{0, 1}};
  EXPECT_EQ(devicesOf(table, Addressing::CrossReplica, grid), (DeviceGroups{{0, 2}, {1, 3}}));
  EXPECT_EQ(devicesOf(table, Addressing::CrossPartition, grid), (DeviceGroups{{0, 1}, {2, 3}}));
  EXPECT_EQ(devicesOf(table, Addressing::CrossReplicaAndPartition, grid),
            (DeviceGroups{{0, 2, 1, 3}}));
  EXPECT_EQ(devicesOf(table, Addressing::FlattenedIds, grid), (DeviceGroups{{0, 1}}));
}

TEST(ProcessGrid, AnEmptyTableIsEveryone) {
  EXPECT_EQ(devicesOf({}, Addressing::CrossReplica, {3, 1}), (DeviceGroups{{0, 1, 2}}));
  EXPECT_EQ(devicesOf({}, Addressing::FlattenedIds, {2, 2}), (DeviceGroups{{0, 1, 2, 3}}));
}

TEST(ProcessGrid, NumbersBeyondTheReplicasAreDevices) {
  EXPECT_EQ(devicesOf({{0, 2}, {1, 3}}, Addressing::CrossReplica, {1, 4}),
            (DeviceGroups{{0, 2}, {1, 3}}));
}

TEST(GroupTable, GroupsWithoutAxesLieAlongTheFewestAxes) {
  Mesh mesh{"mesh", {{"x", 2}, {"y", 4}}, {}};
  GroupTable table = tableOfGroups(mesh, DeviceGroups{{0, 3}, {1, 2}, {7, 4}, {5, 6}});
  EXPECT_EQ(table.axes, AxisRefs{wholeAxis(mesh, 1)});
  EXPECT_EQ(table.largest, 2);
  EXPECT_EQ(table.members[2], (llvm::SmallVector<int64_t>{1, 2}));
  EXPECT_EQ(table.members[4], (llvm::SmallVector<int64_t>{3, 0}));
  EXPECT_EQ(table.rank, (std::vector<int64_t>{0, 0, 1, 1, 1, 0, 1, 0}));
}

TEST(GroupTable, DevicesInNoGroupHaveNoMembers) {
  Mesh mesh{"mesh", {{"x", 3}}, {}};
  GroupTable table = tableOfGroups(mesh, DeviceGroups{{2, 1}});
  EXPECT_TRUE(table.members[0].empty());
  EXPECT_EQ(table.members[1], (llvm::SmallVector<int64_t>{2, 1}));
}

} // namespace
} // namespace tessera::sharding
