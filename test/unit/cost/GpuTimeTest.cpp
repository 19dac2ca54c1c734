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
  rates.kernels = {{"processors", 100}};
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

TEST(GpuTime, ProcessorsAreNoRateOfAKind) {
  KernelWork work;
  work.arrays = {{1e9}};
  EXPECT_TRUE(goesByKinds({.kernels = {{"streams", 1e9}}}));
  EXPECT_FALSE(goesByKinds(gpu()));
  EXPECT_DOUBLE_EQ(kernelSeconds(gpu(), work), 1e-3); // before there are blocks: a roofline
  EXPECT_DOUBLE_EQ(rooflineSeconds(gpu(), 0, 1e9), 1e-3);
}

} // namespace
} // namespace tessera::cost
