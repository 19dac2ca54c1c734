// A product by a warpgroup, written by hand, with a warp that copies its operands: what the emulator
// computes, and which of its mistakes it finds.
#include "test/gpu/emulator/Machine.h"
#include "test/gpu/emulator/TensorMap.h"

#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace tessera::emulator {
namespace {

constexpr int kRows = 64, kColumns = 16, kTerms = 320, kSlice = 64;

// Two stages of 64 x 64 elements of a and 16 x 64 of b, and two barriers of each. Registers: r1 thread,
// r10 slice, r11 stage, r12 round, r13 parity, r14 parity of empty stages.
const std::string kKernel = R"(.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 stages[];
.visible .entry k(.param .u64 .ptr .global .align 64 y, .param .align 64 .b8 a[128], .param .align 64 .b8 b[128])
{
  .reg .pred %p<4>;
  .reg .b32 %r<32>;
  .reg .b32 %f<8>;
  .reg .b64 %rd<32>;
  .shared .align 8 .b8 bars[32];
  ld.param.b64 %rd1, [y];
  mov.b64 %rd2, a;
  cvta.param.u64 %rd2, %rd2;
  mov.b64 %rd3, b;
  cvta.param.u64 %rd3, %rd3;
  mov.b64 %rd4, stages;
  mov.u32 %r1, %tid.x;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $MADE;
  mbarrier.init.shared.b64 [bars], 1;
  mbarrier.init.shared.b64 [bars+8], 1;
  mbarrier.init.shared.b64 [bars+16], 4;
  mbarrier.init.shared.b64 [bars+24], 4;
  fence.mbarrier_init.release.cluster;
$MADE:
  bar.sync 0;
  mov.b32 %r10, 0;
  setp.lt.u32 %p1, %r1, 128;
  @%p1 bra $CONSUMER;
  setp.ne.s32 %p1, %r1, 128;
  @%p1 bra $DONE;
$PRODUCE:
  and.b32 %r11, %r10, 1;
  shr.u32 %r12, %r10, 1;
  and.b32 %r13, %r12, 1;
  xor.b32 %r14, %r13, 1;
  mul.wide.u32 %rd5, %r11, 10240;
  add.s64 %rd6, %rd4, %rd5;
  mul.wide.u32 %rd7, %r11, 8;
  mov.b64 %rd8, bars;
  add.s64 %rd8, %rd8, %rd7;
$EMPTY:
  mbarrier.try_wait.parity.shared.b64 %p2, [%rd8+16], %r14;
  @!%p2 bra $EMPTY;
  mbarrier.arrive.expect_tx.shared.b64 _, [%rd8], 10240;
  mul.lo.u32 %r15, %r10, 64;
  mov.b32 %r16, 0;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%rd6], [%rd2, {%r15, %r16}], [%rd8];
  add.s64 %rd9, %rd6, 8192;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%rd9], [%rd3, {%r15, %r16}], [%rd8];
  add.s32 %r10, %r10, 1;
  setp.lt.u32 %p3, %r10, 5;
  @%p3 bra $PRODUCE;
  bra $DONE;
$CONSUMER:
  mov.b32 %f0, 0; mov.b32 %f1, 0; mov.b32 %f2, 0; mov.b32 %f3, 0;
  mov.b32 %f4, 0; mov.b32 %f5, 0; mov.b32 %f6, 0; mov.b32 %f7, 0;
$CONSUME:
  and.b32 %r11, %r10, 1;
  shr.u32 %r12, %r10, 1;
  and.b32 %r13, %r12, 1;
  mul.wide.u32 %rd5, %r11, 10240;
  add.s64 %rd6, %rd4, %rd5;
  mul.wide.u32 %rd7, %r11, 8;
  mov.b64 %rd8, bars;
  add.s64 %rd8, %rd8, %rd7;
$FULL:
  mbarrier.try_wait.parity.shared.b64 %p2, [%rd8], %r13;
  @!%p2 bra $FULL;
  shr.u64 %rd10, %rd6, 4;
  or.b64 %rd10, %rd10, 4611686293305294848;
  add.s64 %rd11, %rd10, 512;
  wgmma.fence.sync.aligned;
)" + [] {
  std::string products;
  for (int k = 0; k < 4; ++k)
    products += "  wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3, %f4, "
                "%f5, %f6, %f7}, %rd10, %rd11, 1, 1, 1, 0, 0;\n"
                "  add.s64 %rd10, %rd10, 2;\n  add.s64 %rd11, %rd11, 2;\n";
  return products;
}() + R"(  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  and.b32 %r20, %r1, 31;
  setp.ne.s32 %p1, %r20, 0;
  @!%p1 mbarrier.arrive.shared.b64 _, [%rd8+16];
  add.s32 %r10, %r10, 1;
  setp.lt.u32 %p3, %r10, 5;
  @%p3 bra $CONSUME;
  mul.wide.u32 %rd12, %r1, 32;
  add.s64 %rd1, %rd1, %rd12;
  st.global.v4.b32 [%rd1], {%f0, %f1, %f2, %f3};
  st.global.v4.b32 [%rd1+16], {%f4, %f5, %f6, %f7};
$DONE:
  ret;
}
)";

class WarpgroupTest : public testing::Test {
protected:
  static float ofA(int row, int k) { return float((row * 7 + k * 3) % 11 - 5); }
  static float ofB(int column, int k) { return float((column * 5 + k) % 7 - 3); }

  uint64_t matrix(int rows, float (*element)(int, int)) {
    uint64_t address = memory.allocate(2 * rows * kTerms);
    auto *to = reinterpret_cast<uint16_t *>(memory.translate(address, 2 * rows * kTerms));
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < kTerms; ++k)
        to[row * kTerms + k] =
            static_cast<uint16_t>(std::bit_cast<uint32_t>(element(row, k)) >> 16);
    return address;
  }

  std::string encoded(TensorMap &map, uint64_t address, uint64_t rows, int swizzle) {
    uint64_t sizes[] = {kTerms, rows}, strides[] = {2 * kTerms};
    uint32_t box[] = {kSlice, uint32_t(rows)}, steps[] = {1, 1};
    return encode(map, 9, 2, address, sizes, strides, box, steps, 0, swizzle, 2, 0);
  }

  // What went wrong with the kernel after a change of its text; "" if each of some orders is well.
  std::string run(const std::string &from = "", const std::string &to = "") {
    std::string text = kKernel, problem;
    size_t at = text.find(from);
    if (at == text.npos)
      return "nothing to change";
    text.replace(at, from.size(), to);
    Module module;
    if (problem = parse(text, module); !problem.empty())
      return problem;
    for (uint64_t seed = 1; seed <= 6 && problem.empty(); ++seed)
      problem = runOnce(module, seed);
    return problem;
  }

  std::string runOnce(const Module &module, uint64_t seed) {
    struct alignas(64) Parameters {
      uint64_t y;
      alignas(64) TensorMap a;
      alignas(64) TensorMap b;
      uint8_t end[64];
    } parameters{};
    static_assert(offsetof(Parameters, b) == 192);
    parameters.y = memory.allocate(4 * kRows * kColumns);
    std::string problem = encoded(parameters.a, matrix(kRows, ofA), kRows, swizzle) +
                          encoded(parameters.b, matrix(kColumns, ofB), kColumns, swizzle);
    if (!problem.empty())
      return problem;
    Machine machine(module, {}, memory, seed);
    problem = machine.run(module.kernels.at("k"), {1, 160, 2 * 10240},
                          reinterpret_cast<const uint8_t *>(&parameters), ++launch, counts);
    if (!problem.empty())
      return problem;
    auto *y = reinterpret_cast<float *>(memory.translate(parameters.y, 4 * kRows * kColumns));
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < 8; ++i) {
        int row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
        int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        float sum = 0;
        for (int k = 0; k < kTerms; ++k)
          sum += ofA(row, k) * ofB(column, k);
        if (y[thread * 8 + i] != sum)
          return "wrong number";
      }
    return "";
  }

  void expect(const std::string &what, const std::string &from, const std::string &to = "") {
    EXPECT_NE(run(from, to).find(what), std::string::npos) << from << ": " << run(from, to);
  }

  Memory memory;
  Counts counts;
  uint32_t launch = 0;
  int swizzle = 3;
};

const std::string kFence = "  wgmma.fence.sync.aligned;\n",
                  kWait = "  wgmma.wait_group.sync.aligned 0;\n", kExpect = "_, [%rd8], 10240";

TEST_F(WarpgroupTest, MultipliesWhatIsCopied) {
  EXPECT_EQ(run(), "");
  EXPECT_EQ(counts.tensorCopies, 6u * 10);
  EXPECT_EQ(counts.warpgroupProducts, 6u * 4 * 4 * 5);
  EXPECT_EQ(counts.bankTurns, counts.leastBankTurns);
  EXPECT_EQ(counts.leastRead, 6u * 2 * kTerms * (kRows + kColumns));
  EXPECT_EQ(counts.sectorsRead, counts.leastRead / 32);
}

TEST_F(WarpgroupTest, WaitsThatAreLeftOutAreFound) {
  expect("a copy that is under way", "  @!%p2 bra $FULL;\n");
  EXPECT_NE(run("  @!%p2 bra $EMPTY;\n"), "");
  expect("that is under way", kWait);
  expect("that is under way", kWait, "  wgmma.wait_group.sync.aligned 1;\n");
  // Of a group that nobody commits.
  expect("a product that is under way", "  wgmma.commit_group.sync.aligned;\n");
}

TEST_F(WarpgroupTest, WrongParitiesAreFound) {
  EXPECT_NE(run("[%rd8], %r13", "[%rd8], %r12"), "");
  EXPECT_NE(run("[%rd8+16], %r14", "[%rd8+16], %r13"), "");
}

TEST_F(WarpgroupTest, FencesThatAreLeftOutAreFound) {
  expect("no wgmma.fence between", kFence);
  expect("with no fence since that was made", "  fence.mbarrier_init.release.cluster;\n");
  expect("with no bar.sync between", "  bar.sync 0;\n");
}

TEST_F(WarpgroupTest, WhatIsNeverCountedIsWaitedForInVain) {
  expect("a phase that never ends", kExpect, "_, [%rd8], 10244");
  expect("a phase that never ends", "[bars+16], 4", "[bars+16], 5");
  EXPECT_NE(run("[bars+16], 4", "[bars+16], 3"), "");
}

TEST_F(WarpgroupTest, StagesThatAreOthersAreFound) {
  // A slice that is not the one of this round; a stage that lies in the other.
  expect("wrong number", "mul.lo.u32 %r15, %r10, 64", "mul.lo.u32 %r15, %r11, 64");
  EXPECT_NE(run("%rd6, 8192", "%rd6, 7168"), "");
}

TEST_F(WarpgroupTest, DescriptorsSayHowMatricesLie) {
  // 64 bytes instead of 128; no line that the copy swizzled.
  EXPECT_EQ(run("4611686293305294848", "9223372311732682752"), "wrong number");
  swizzle = 0;
  EXPECT_EQ(run(), "wrong number");
}

TEST_F(WarpgroupTest, WhatThreadsWriteIsFencedFirst) {
  const std::string made = "$MADE:\n", stored = "  st.shared.b32 [stages], %r1;\n";
  expect("with no fence.proxy.async between", made, stored + made);
  EXPECT_EQ(run(made, stored + "  fence.proxy.async.shared::cta;\n" + made), "");
}

TEST_F(WarpgroupTest, OtherArchitecturesHaveNone) {
  expect("is not there on sm_90", "sm_90a", "sm_90");
  expect("is not there on sm_80", "sm_90a", "sm_80");
}

} // namespace
} // namespace tessera::emulator
