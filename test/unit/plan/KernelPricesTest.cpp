// What shards of kernels take on a machine whose rates by kind of work are known.
#include "lib/plan/KernelPrices.h"

#include "Products.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

cost::Topology machine() {
  cost::Topology machine = cost::defaultTopology();
  machine.device.cacheBytes = 1e6;
  machine.device.sharedBytes = 0;
  machine.device.kernels = {{"product_f32", 1e11}, {"warm", 1e11}, {"streams", 1e10}};
  return machine;
}

Kernel copyOf(double bytes, double reuse) {
  Kernel kernel;
  kernel.bytes = bytes;
  kernel.elementType = "f32";
  kernel.isCounted = true;
  kernel.work.arrays = {{bytes}};
  kernel.reuse = {reuse};
  return kernel;
}

// Eight times as much as a cache has was touched since: of an eighth of it all is there.
TEST(KernelPrices, CachesHoldMoreOfShards) {
  Program program;
  program.kernels = {copyOf(8e5, 8e6), copyOf(8e5, 1e5)};
  cost::Topology topology = machine();
  sharding::Mesh mesh{"mesh", {{"x", 8}}, {}};
  KernelPrices prices(program, topology, mesh);
  EXPECT_NEAR(prices.seconds(0, 1), 8e5 / 1e10, 1e-3 * 8e5 / 1e10);
  EXPECT_DOUBLE_EQ(prices.seconds(0, 8), 1e5 / 1e11);
  EXPECT_DOUBLE_EQ(prices.seconds(1, 1), 8e5 / 1e11);
  EXPECT_NE(prices.keyOf(0), prices.keyOf(1));
}

// A kernel that looks up a few rows is handed to several cores by the size of what it is given, as the runtime does.
TEST(KernelPrices, GridsAreSharedByWholeArrays) {
  Program program;
  Kernel few = copyOf(1e4, 1e12), lookup = few; // of which no cache has anything
  few.work.grid = lookup.work.grid = 8;
  few.given = 1e4, lookup.given = 8e6;
  program.kernels = {few, lookup};
  cost::Topology topology = machine();
  topology.computingAtOnce = 16;
  sharding::Mesh mesh{"mesh", {{"x", 8}}, {}};
  KernelPrices prices(program, topology, mesh);
  EXPECT_DOUBLE_EQ(prices.seconds(1, 1), prices.seconds(0, 1) / 2);
  // An eighth of it is enough for several; a hundredth is not.
  EXPECT_DOUBLE_EQ(prices.seconds(1, 8), prices.seconds(0, 8) / 2);
  EXPECT_DOUBLE_EQ(prices.seconds(1, 100), prices.seconds(0, 100));
}

// A fourth of a product's rows computes a fourth, and reads the weight whole; of its columns, which are
// fewer than a vector's lanes then, each tile computes as long.
TEST(KernelPrices, ProductsByTheirDimensions) {
  Program program;
  Kernel kernel;
  kernel.isCounted = true;
  kernel.flops = 2.0 * 512 * 32 * 512;
  kernel.bytes = 4.0 * (512 * 512 + 512 * 32 + 512 * 32);
  cost::Product product;
  product.m = product.k = product.run = 512;
  product.n = 32;
  kernel.work.products = {product};
  kernel.work.arrays = {{kernel.bytes}};
  kernel.reuse = {1e5};
  program.kernels = {kernel};
  cost::Topology topology = machine();
  topology.device.kernels.erase("warm");
  topology.device.kernels.erase("streams");
  sharding::Mesh mesh{"mesh", {{"x", 4}}, {}};
  KernelPrices prices(program, topology, mesh);
  double whole = prices.seconds(0, 1);
  ProductShards rows, columns;
  rows.all = rows.m = columns.all = columns.n = 4;
  EXPECT_NEAR(prices.seconds(0, rows), whole / 4, 0.02 * whole);
  EXPECT_GT(prices.seconds(0, columns), 0.45 * whole);
  EXPECT_DOUBLE_EQ(prices.seconds(0, {.all = 4}), prices.seconds(0, 4));
}

// The whole is divided into cells of some 250 rows and 190 columns, which copy both again; an eighth of the rows is one cell.
TEST(KernelPrices, CellsOfShardsAreTheirOwn) {
  Program program;
  Kernel kernel;
  kernel.isCounted = true;
  cost::Product product;
  product.type = cost::ProductType::BF16;
  product.m = 1024, product.n = 256, product.k = product.run = 128;
  product.a = product.b = cost::Product::Plain;
  product.timesA = 2, product.timesB = 4;
  kernel.work.products = {product};
  kernel.flops = product.flops();
  program.kernels = {kernel};
  cost::Topology topology = machine();
  topology.device.kernels = {{"product_bf16", 1e30}, {"copied", 1e10}};
  sharding::Mesh mesh{"mesh", {{"x", 8}}, {}};
  KernelPrices prices(program, topology, mesh);
  // Two elements are a lane.
  EXPECT_DOUBLE_EQ(prices.seconds(0, 1), (2 * 1024 * 128 + 4 * 256 * 128) / 2 / 1e10);
  double shard = (128 * 128 + 256 * 128) / 2 / 1e10;
  EXPECT_DOUBLE_EQ(prices.seconds(0, 8), shard);
  EXPECT_DOUBLE_EQ(prices.seconds(0, {.all = 8, .m = 8}), shard);
  EXPECT_DOUBLE_EQ(prices.seconds(0, {.all = 4}), prices.seconds(0, 4));
}

} // namespace
} // namespace tessera::plan
