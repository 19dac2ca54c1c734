// Tables of device numbers and the mesh axes behind them.
#include "lib/sharding/DeviceGroups.h"

#include <gtest/gtest.h>
#include <map>

namespace tessera::sharding {
namespace {

using Groups = std::vector<llvm::SmallVector<int64_t>>;

Mesh mesh(std::initializer_list<int64_t> sizes) {
  Mesh mesh{"mesh", {}, {}};
  for (int64_t size : sizes)
    mesh.axes.push_back({std::string(1, char('a' + mesh.axes.size())), size});
  return mesh;
}

// What a frontend writes for a collective over `axes`: one row for each group, devices in rank order.
Groups tableOf(const Mesh &mesh, const AxisRefs &axes) {
  int64_t devices = mesh.numDevices(), size = shardCount(axes);
  std::map<std::vector<int64_t>, llvm::SmallVector<int64_t>> groups;
  for (int64_t d = 0; d < devices; ++d) {
    std::vector<int64_t> rest;
    for (int32_t a = 0; a < int32_t(mesh.axes.size()); ++a)
      if (!overlap(wholeAxis(mesh, a), axes))
        rest.push_back(indexAlong(mesh, d, wholeAxis(mesh, a)));
    auto &group = groups[rest];
    group.resize(size);
    group[indexAlong(mesh, d, axes)] = d;
  }
  Groups table;
  for (auto &[rest, group] : groups)
    table.push_back(group);
  return table;
}

TEST(DeviceGroups, EverySubsetOfAxesInEveryOrderComesBack) {
  for (const Mesh &m :
       {mesh({2, 4}), mesh({3, 2, 2}), mesh({4, 1, 3}), mesh({8}), mesh({2, 3, 2, 2})}) {
    std::vector<int32_t> order(m.axes.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    do {
      AxisRefs axes;
      for (int32_t a : order) {
        axes.push_back(wholeAxis(m, a));
        Groups table = tableOf(m, axes);
        auto found = axesOfGroups(m, table);
        ASSERT_TRUE(found);
        EXPECT_EQ(tableOf(m, *found), table); // axes of size 1 may be left out
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(DeviceGroups, PartsOfAnAxis) {
  Mesh m = mesh({2, 4});
  EXPECT_EQ(axesOfGroups(m, Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}), (AxisRefs{{1, 2, 2}}));
  EXPECT_EQ(axesOfGroups(m, Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}), (AxisRefs{{1, 1, 2}}));
}

TEST(DeviceGroups, DevicesInAnotherOrder) {
  Mesh m = mesh({2, 2});
  m.deviceIds = {0, 2, 1, 3}; // column-major
  EXPECT_EQ(axesOfGroups(m, Groups{{0, 1}, {2, 3}}), (AxisRefs{{0, 1, 2}}));
}

TEST(DeviceGroups, WhatNoAxesExplain) {
  Mesh m = mesh({6});
  EXPECT_FALSE(axesOfGroups(m, Groups{{0, 1, 3}, {2, 4, 5}}));   // no digits
  EXPECT_FALSE(axesOfGroups(m, Groups{{0, 1, 2}}));              // not all devices
  EXPECT_FALSE(axesOfGroups(m, Groups{{0, 1}, {2, 3, 4, 5}}));   // groups of unequal size
  EXPECT_FALSE(axesOfGroups(m, Groups{{0, 1, 2}, {5, 4, 3}}));   // the second in another order
  EXPECT_FALSE(axesOfGroups(m, Groups{{0, 1, 2}, {0, 1, 2}}));   // a device twice
  EXPECT_FALSE(axesOfGroups(m, Groups{{0, 9}, {1, 2}, {3, 4}})); // a device that is not there
}

TEST(DeviceGroups, DigitsOfPositions) {
  Mesh m = mesh({2, 4});
  EXPECT_EQ(axesOfDigit(m, {1, 4}), (AxisRefs{{1, 1, 4}}));
  EXPECT_EQ(axesOfDigit(m, {4, 2}), (AxisRefs{{0, 1, 2}}));
  EXPECT_EQ(axesOfDigit(m, {1, 8}), (AxisRefs{{0, 1, 2}, {1, 1, 4}}));
  EXPECT_EQ(axesOfDigit(m, {2, 2}), (AxisRefs{{1, 1, 2}}));
  EXPECT_EQ(axesOfDigit(m, {2, 4}), (AxisRefs{{0, 1, 2}, {1, 1, 2}}));
  EXPECT_FALSE(axesOfDigit(m, {3, 2}));
  EXPECT_FALSE(axesOfDigit(m, {1, 3}));
  EXPECT_FALSE(axesOfDigit(m, {4, 4}));
}

TEST(DeviceGroups, RingsAreShifts) {
  Mesh m = mesh({2, 4});
  RankPairs ring = ranksOfPairs(m, {0, 1, 1, 2, 2, 3, 3, 0, 4, 5, 5, 6, 6, 7, 7, 4});
  EXPECT_EQ(ring.axes, (AxisRefs{{1, 1, 4}}));
  EXPECT_EQ(ring.shift, 1);
  EXPECT_TRUE(ring.wrap);
  RankPairs chain = ranksOfPairs(m, {0, 4, 1, 5, 2, 6, 3, 7});
  EXPECT_EQ(chain.axes, (AxisRefs{{0, 1, 2}}));
  EXPECT_EQ(chain.shift, 1);
  EXPECT_FALSE(chain.wrap);
  // Two ahead of four is the same as two back: one of them, with wrap.
  RankPairs half = ranksOfPairs(m, {0, 2, 1, 3, 2, 0, 3, 1, 4, 6, 5, 7, 6, 4, 7, 5});
  EXPECT_EQ(half.shift, 2);
  EXPECT_TRUE(half.wrap);
}

TEST(DeviceGroups, OtherTablesKeepTheirPairs) {
  Mesh m = mesh({2, 4});
  RankPairs swap = ranksOfPairs(m, {0, 1, 1, 0, 2, 3, 3, 2, 4, 5, 5, 4, 6, 7, 7, 6});
  EXPECT_EQ(swap.axes, (AxisRefs{{1, 1, 4}}));
  EXPECT_FALSE(swap.shift);
  EXPECT_EQ(swap.pairs, (llvm::SmallVector<int64_t>{0, 1, 1, 0, 2, 3, 3, 2}));
  // Only one of the groups along `b` sends: a matter of the whole mesh.
  RankPairs one = ranksOfPairs(m, {0, 1});
  EXPECT_EQ(shardCount(one.axes), 8);
  EXPECT_EQ(one.pairs, (llvm::SmallVector<int64_t>{0, 1}));
  // Who sends to itself, where others have nothing, is of one axis if it is the same along the other.
  RankPairs first = ranksOfPairs(m, {0, 0, 4, 4});
  EXPECT_EQ(first.axes, (AxisRefs{{1, 1, 4}}));
  EXPECT_EQ(first.pairs, (llvm::SmallVector<int64_t>{0, 0}));
  RankPairs row = ranksOfPairs(m, {3, 3, 1, 1, 2, 2, 0, 0});
  EXPECT_EQ(row.axes, (AxisRefs{{0, 1, 2}}));
  EXPECT_EQ(row.pairs, (llvm::SmallVector<int64_t>{0, 0}));
  RankPairs everyone = ranksOfPairs(m, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7});
  EXPECT_TRUE(everyone.axes.empty());
  EXPECT_EQ(everyone.pairs.size(), 2u);
}

} // namespace
} // namespace tessera::sharding
