// Meshes in the words of others: one renumbering of the devices must explain all axes and their
// parts.
#include "lib/sharding/MeshTranslation.h"

#include "RandomShardings.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>

namespace tessera::sharding {
namespace {

Mesh mesh(std::initializer_list<int64_t> sizes, std::vector<int64_t> ids = {}) {
  Mesh mesh{"mesh", {}, std::move(ids)};
  for (int64_t size : sizes)
    mesh.axes.push_back({std::string(1, char('a' + mesh.axes.size())), size});
  return mesh;
}

// Axes of sizes whose product is `devices`, in random order; the devices too, now and then.
Mesh randomMesh(Random &random, int64_t devices) {
  Mesh mesh{"mesh", {}, {}};
  for (int64_t rest = devices; rest > 1;) {
    llvm::SmallVector<int64_t> divisors;
    for (int64_t d = 2; d <= rest; ++d)
      if (rest % d == 0)
        divisors.push_back(d);
    int64_t size = divisors[random(divisors.size())];
    mesh.axes.push_back({std::string(1, char('a' + mesh.axes.size())), size});
    rest /= size;
  }
  if (random(3) == 0) {
    mesh.deviceIds.resize(devices);
    std::iota(mesh.deviceIds.begin(), mesh.deviceIds.end(), 0);
    std::shuffle(mesh.deviceIds.begin(), mesh.deviceIds.end(), random.engine);
  }
  return mesh;
}

// Parts of axes that nest: for each axis one boundary.
AxisRefs randomParts(Random &random, const Mesh &mesh) {
  AxisRefs parts;
  for (int32_t a = 0; a < int32_t(mesh.axes.size()); ++a) {
    int64_t size = mesh.axes[a].size, boundary = 1 + random(size);
    if (size % boundary || boundary == 1 || boundary == size)
      continue;
    parts.push_back({a, 1, boundary});
    parts.push_back({a, boundary, size / boundary});
  }
  return parts;
}

TEST(MeshTranslation, KeepsDevicesWhereAxesAreParts) {
  Mesh to = mesh({2, 4}), from = mesh({4, 2});
  MeshTranslation translation(to, from, {}, {});
  EXPECT_TRUE(translation.keepsDevices());
  EXPECT_EQ(*translation.axesOf(wholeAxis(from, 0)), (AxisRefs{{0, 1, 2}, {1, 1, 2}}));
  EXPECT_EQ(*translation.axesOf(AxisRef{0, 2, 2}), (AxisRefs{{1, 1, 2}}));
}

TEST(MeshTranslation, RenumbersWhereNoneAre) {
  Mesh to = mesh({2, 3}), from = mesh({3, 2});
  MeshTranslation translation(to, from, {}, {});
  EXPECT_FALSE(translation.keepsDevices());
  EXPECT_EQ(*translation.axesOf(wholeAxis(from, 0)), (AxisRefs{{1, 1, 3}}));
  EXPECT_EQ(*translation.axesOf(wholeAxis(from, 1)), (AxisRefs{{0, 1, 2}}));
}

TEST(MeshTranslation, PrimesThatAreAsFarApartStay) { // the last axis is the same in both
  Mesh to = mesh({2, 3, 2}), from = mesh({3, 2, 2});
  MeshTranslation translation(to, from, {}, {});
  EXPECT_EQ(*translation.axesOf(wholeAxis(from, 1)), (AxisRefs{{0, 1, 2}}));
  EXPECT_EQ(*translation.axesOf(wholeAxis(from, 2)), (AxisRefs{{2, 1, 2}}));
}

TEST(MeshTranslation, PartsThatDoNotNestHaveNone) {
  Mesh to = mesh({2, 3}), from = mesh({6});
  MeshTranslation translation(to, from, {}, {{0, 1, 2}, {0, 1, 3}});
  EXPECT_TRUE(translation.axesOf(AxisRef{0, 1, 2}));
  EXPECT_FALSE(translation.axesOf(AxisRef{0, 1, 3}));
}

TEST(MeshTranslation, NeedsAsManyDevices) {
  EXPECT_FALSE(MeshTranslation(mesh({2}), mesh({4}), {}, {}).isPossible());
}

TEST(MeshTranslation, FewerDevicesAreRepeated) {
  Mesh to = mesh({2, 4}), from = mesh({4});
  MeshTranslation translation(to, from, {}, {});
  EXPECT_TRUE(translation.keepsDevices());
  EXPECT_TRUE(translation.holds({0, 1, 4}));
  EXPECT_EQ(translation.axesOf(AxisRefs({{0, 1, 4}})), AxisRefs({{1, 1, 4}}));
  EXPECT_FALSE(MeshTranslation(to, mesh({4}, {1, 0, 2, 3}), {}, {}).keepsDevices());
}

TEST(MeshTranslation, WhatDoesNotDivideIsLost) {
  Mesh to = mesh({2, 3}), from = mesh({4});
  MeshTranslation translation(to, from, {}, {});
  EXPECT_FALSE(translation.keepsDevices());
  EXPECT_FALSE(translation.holds({0, 1, 4}));
  EXPECT_EQ(translation.axesOf(AxisRef{0, 1, 4}), AxisRefs({{0, 1, 2}}));
  EXPECT_TRUE(translation.holds({0, 1, 2}));
  EXPECT_FALSE(translation.holds({0, 2, 2}));
  EXPECT_EQ(translation.axesOf(AxisRef{0, 2, 2}), AxisRefs());
}

TEST(MeshTranslation, OneRenumberingExplainsAllAxes) {
  Random random{std::mt19937(7)};
  int kept = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t counts[] = {2, 4, 6, 8, 12, 24, 30, 36};
    int64_t devices = counts[random(8)];
    Mesh to = randomMesh(random, devices), from = randomMesh(random, devices);
    AxisRefs used = randomParts(random, from), usedOfTo = randomParts(random, to);
    MeshTranslation translation(to, from, usedOfTo, used);
    ASSERT_TRUE(translation.isPossible());
    // Where each device of `from` goes: by the images of all its axes.
    AxisRefs all, images;
    for (int32_t a = 0; a < int32_t(from.axes.size()); ++a)
      all.push_back(wholeAxis(from, a));
    auto whole = translation.axesOf(llvm::ArrayRef(all));
    ASSERT_TRUE(whole);
    images = *whole;
    ASSERT_EQ(shardCount(images), devices);
    std::vector<int64_t> goesTo(devices, -1);
    for (int64_t d = 0; d < devices; ++d)
      for (int64_t e = 0; e < devices && goesTo[d] < 0; ++e)
        if (indexAlong(to, e, images) == indexAlong(from, d, all))
          goesTo[d] = e;
    ASSERT_EQ(std::set<int64_t>(goesTo.begin(), goesTo.end()).size(), size_t(devices));
    ASSERT_EQ(goesTo[0] < 0, false);
    AxisRefs checked = all;
    checked.append(used);
    for (const AxisRef &axis : checked) {
      auto image = translation.axesOf(axis);
      ASSERT_TRUE(image);
      for (int64_t d = 0; d < devices; ++d)
        ASSERT_EQ(indexAlong(to, goesTo[d], *image), indexAlong(from, d, axis));
    }
    if (translation.keepsDevices()) {
      ++kept;
      for (int64_t d = 0; d < devices; ++d)
        ASSERT_EQ(goesTo[d], d);
    }
  }
  EXPECT_GT(kept, 500);
  EXPECT_LT(kept, 2500);
}

TEST(RefinedMesh, HasThePartsAsAxes) {
  Mesh fine = refined(mesh({8, 1, 2}), {{0, 2, 2}});
  ASSERT_EQ(fine.axes.size(), 5u);
  EXPECT_EQ(fine.axes[0], (MeshAxis{"a_0", 2}));
  EXPECT_EQ(fine.axes[1], (MeshAxis{"a_1", 2}));
  EXPECT_EQ(fine.axes[2], (MeshAxis{"a_2", 2}));
  EXPECT_EQ(fine.axes[3], (MeshAxis{"c", 2}));
  EXPECT_EQ(fine.numDevices(), 16);
}

} // namespace
} // namespace tessera::sharding
