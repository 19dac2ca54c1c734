// How long kernels take on a GPU, by data sheets and the kernels' blocks.
#include "lib/cost/GpuTime.h"
#include "lib/cost/KernelTerms.h"

#include "gtest/gtest.h"

#include <cmath>

namespace tessera::cost {
namespace {

DeviceRates gpu() {
  DeviceRates rates;
  rates.flopsPerSecond = 2e12; // 1e12 instructions
  rates.flopsByType = {{"bf16", 1e13}};
  rates.bytesPerSecond = 1e12;
  rates.processors = 100;
  return rates;
}

TEST(GpuTime, BytesThatMoveHideWhatIsComputed) {
  KernelWork work;
  work.arrays = {{3e9}, {1e9}};
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 100), 4e-3);
  work.of(ElementClass::Arithmetic) = 1e9;
  work.of(ElementClass::Division) = 2e8; // ten instructions each
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 100), std::hypot(4e-3, 3e-3));
}

TEST(GpuTime, ProductsGoByTheRateOfTheirType) {
  KernelWork work;
  work.products = {{.type = ProductType::BF16, .m = 1000, .n = 1000, .k = 5000}};
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 100), 1e-3);
  work.products[0].type = ProductType::F32;
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 100), 5e-3);
}

TEST(GpuTime, TheProcessorThatHasMostBlocksDecides) {
  KernelWork work;
  work.of(ElementClass::Arithmetic) = 1e9;
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 100), 1e-3);
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 101), 2e-3 * 100 / 101);
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 25), 4e-3);
}

TEST(GpuTime, OneProcessorDrawsAFewTimesItsShareOfTheMemory) {
  KernelWork work;
  work.arrays = {{1e9}};
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 25), 1e-3);
  EXPECT_DOUBLE_EQ(gpuSeconds(gpu(), work, 1), 25e-3);
}

TEST(GpuTime, BlocksAreGuessedBeforeThereIsCode) {
  KernelWork work;
  work.arrays = {{40960}, {4096}}; // ten blocks' threads read it, 16 bytes each
  EXPECT_DOUBLE_EQ(likelyBlocks(gpu(), work), 10);
  EXPECT_DOUBLE_EQ(kernelSeconds(gpu(), work), gpuSeconds(gpu(), work, 10));
  work.products = {{.batch = 2, .m = 1280, .n = 1000, .k = 64}};
  EXPECT_DOUBLE_EQ(likelyBlocks(gpu(), work), 2 * 10 * 8); // tiles of 128
  work.products[0].batch = 1;
  EXPECT_DOUBLE_EQ(likelyBlocks(gpu(), work), 20 * 16); // of 64: 80 would leave processors idle
  work.products[0] = {.m = 10, .n = 10, .k = 4096};
  EXPECT_DOUBLE_EQ(likelyBlocks(gpu(), work), 1);
}

TEST(GpuTime, RatesOfKindsAreOfCores) {
  EXPECT_TRUE(goesByKinds({.flopsByType = {}, .kernels = {{"streams", 1e9}}}));
  EXPECT_FALSE(goesByKinds({.flopsByType = {}, .kernels = {{"streams", 1e9}}, .processors = 100}));
  EXPECT_DOUBLE_EQ(rooflineSeconds(gpu(), 0, 1e9), 1e-3);
}

} // namespace
} // namespace tessera::cost
