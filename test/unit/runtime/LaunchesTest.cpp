// How a GPU runs kernels, as files say it: what is read, and what is refused.
#include "runtime/program/Launches.h"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

class LaunchesTest : public testing::Test {
protected:
  LaunchesTest() {
    program::Kernel &kernel = *file.add_kernels();
    kernel.set_symbol("k");
    kernel.set_grid(3);
    kernel.add_operands()->set_bytes(16 + 2 * (99 * 80 + 64)); // 100 lines of 64 elements, 80 apart
    launch = image.add_launches();
    launch->set_threads(288);
    launch->set_shared_bytes(200000);
    map = launch->add_maps();
    map->set_offset(16);
    map->set_type(program::BF16);
    for (uint64_t size : {64, 100})
      map->add_sizes(size);
    map->add_strides(160);
    for (uint32_t size : {64, 128})
      map->add_box(size);
  }

  std::string problem() {
    auto launches = readLaunches(file, image);
    return launches.ok() ? "" : launches.status().message();
  }

  program::File file;
  program::CodeImage image;
  program::Launch *launch;
  program::TensorMap *map;
};

constexpr char kMap[] = "kernel 'k' has an impossible map of an operand",
               kLaunch[] = "kernel 'k' has an impossible launch";

TEST_F(LaunchesTest, AreThoseOfTheImage) {
  auto launches = readLaunches(file, image);
  ASSERT_TRUE(launches.ok());
  ASSERT_EQ(launches->size(), 1u);
  const KernelLaunch &read = launches->front();
  EXPECT_EQ(read.grid, 3u);
  EXPECT_EQ(read.threads, 288u);
  EXPECT_EQ(read.sharedBytes, 200000u);
  ASSERT_EQ(read.maps.size(), 1u);
  EXPECT_EQ(read.maps[0].strides, std::vector<uint64_t>{160});
  image.add_grids(7);
  EXPECT_EQ(readLaunches(file, image)->front().grid, 7u);
}

TEST_F(LaunchesTest, MapsLieWithinTheirOperands) {
  EXPECT_EQ(problem(), "");
  map->set_sizes(1, 101);
  EXPECT_EQ(problem(), kMap);
  map->set_sizes(1, 100);
  map->set_offset(32);
  EXPECT_EQ(problem(), kMap);
  map->set_offset(16);
  map->set_strides(0, uint64_t{1} << 39);
  EXPECT_EQ(problem(), kMap);
  map->set_strides(0, 160);
  map->set_operand(1);
  EXPECT_EQ(problem(), kMap);
}

TEST_F(LaunchesTest, WhatNoDriverEncodesIsRefused) {
  map->set_strides(0, 152);
  EXPECT_EQ(problem(), kMap);
  map->set_strides(0, 160);
  map->set_box(0, 32);
  EXPECT_EQ(problem(), kMap);
  map->set_box(0, 64);
  map->set_box(1, 257);
  EXPECT_EQ(problem(), kMap);
  map->set_box(1, 128);
  map->set_type(program::F32);
  EXPECT_EQ(problem(), kMap);
  map->set_type(program::F16);
  map->add_strides(160);
  EXPECT_EQ(problem(), kMap);
}

TEST_F(LaunchesTest, WhatNoGpuRunsIsRefused) {
  launch->set_threads(0);
  EXPECT_EQ(problem(), kLaunch);
  launch->set_threads(1025);
  EXPECT_EQ(problem(), kLaunch);
  launch->set_threads(256);
  launch->set_shared_bytes(1 << 20);
  EXPECT_EQ(problem(), kLaunch);
  launch->set_shared_bytes(0);
  image.add_launches()->set_threads(32);
  EXPECT_EQ(problem(), "an image of code launches 2 kernels of 1");
}

} // namespace
} // namespace tessera::runtime
