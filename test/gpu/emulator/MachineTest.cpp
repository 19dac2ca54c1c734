// Kernels written by hand: what the emulator computes, counts, and refuses.
#include "test/gpu/emulator/Machine.h"

#include <gtest/gtest.h>

namespace tessera::emulator {
namespace {

// A kernel of two arrays `x` and `y`, whose address, with four bytes for each thread, is in %rd1 and
// %rd2; %r1 is the thread.
std::string kernel(const std::string &body) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 64 x, .param .u64 .ptr .global .align 64 y)
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<16>;
  .shared .align 4 .b8 tile[512];
  ld.param.b64 %rd1, [x];
  ld.param.b64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  mov.b32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.s32 %r2, %r2, %r3;
)" + body +
         "\n  ret;\n}\n";
}

class MachineTest : public testing::Test {
protected:
  // What went wrong; x holds 0, 1, 2, ..
  std::string run(const std::string &body, uint32_t blocks = 1, uint32_t threads = 64) {
    Module module;
    if (std::string problem = parse(kernel(body), module); !problem.empty())
      return problem;
    uint64_t parameters[] = {memory.allocate(4 * 64), memory.allocate(4 * 64)};
    x = reinterpret_cast<uint32_t *>(memory.translate(parameters[0], 256));
    y = reinterpret_cast<uint32_t *>(memory.translate(parameters[1], 256));
    for (uint32_t i = 0; i < 64; ++i)
      x[i] = i;
    Machine machine(module, {}, memory, seed);
    return machine.run(module.kernels.at("k"), {blocks, threads, 0},
                       reinterpret_cast<const uint8_t *>(parameters), ++launch, counts);
  }

  Memory memory;
  Counts counts;
  uint64_t seed = 7;
  uint32_t launch = 0;
  uint32_t *x = nullptr, *y = nullptr;
};

TEST_F(MachineTest, AccessesAreCountedBesideTheLeast) {
  EXPECT_EQ(run("ld.global.b32 %r4, [%rd1]; add.s32 %r4, %r4, 5; st.global.b32 [%rd2], %r4;"), "");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], i + 5);
  EXPECT_EQ(counts.bytesRead, 256u);
  EXPECT_EQ(counts.leastWritten, 256u);
  EXPECT_EQ(counts.sectorsRead, 8u);
  // Twice, and apart: a sector for each of 32 threads.
  counts = {};
  EXPECT_EQ(run("shl.b32 %r5, %r1, 5; and.b32 %r5, %r5, 224; sub.s32 %r5, %r5, %r3;"
                "cvt.s64.s32 %rd4, %r5; add.s64 %rd1, %rd1, %rd4;"
                "ld.global.b32 %r4, [%rd1]; ld.global.b32 %r4, [%rd1]; st.global.b32 [%rd2], %r4;"),
            "");
  EXPECT_EQ(counts.bytesRead, 512u);
  EXPECT_EQ(counts.leastRead, 32u);
  EXPECT_EQ(counts.sectorsRead, 32u);
}

// An address in a register of 32 bits has no more, also where a constant brings it back from below zero.
TEST_F(MachineTest, ShortAddressesComeRound) {
  EXPECT_EQ(run("sub.s32 %r4, %r2, 512; st.shared.b32 [%r4+512], %r1;"
                "ld.shared.b32 %r5, [%r2]; st.global.b32 [%rd2], %r5;"),
            "");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], i);
  EXPECT_NE(run("cvt.u64.u32 %rd4, %r2; sub.s64 %rd4, %rd4, 512; st.shared.b32 [%rd4+1024], %r1;"),
            "");
}

// Half a warp reads in the loop's first turn, the other half in its second: the same sectors twice.
TEST_F(MachineTest, LanesThatLeaveOutATurnReadInAnother) {
  EXPECT_EQ(run("and.b32 %r4, %r3, 32; sub.s32 %r4, %r4, %r3; cvt.s64.s32 %rd4, %r4;"
                "shl.b32 %r6, %r1, 27; shr.u32 %r6, %r6, 31; mov.b32 %r5, 0;"
                "add.s64 %rd5, %rd1, %rd4;"
                "$turn: setp.ne.u32 %p1, %r5, %r6; @%p1 bra $next;"
                "ld.global.b32 %r7, [%rd5];"
                "$next: add.s32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 2; @%p2 bra $turn;"
                "st.global.b32 [%rd2], %r7;"),
            "");
  EXPECT_EQ(counts.bytesRead, 256u);
  EXPECT_EQ(counts.sectorsRead, 8u); // two, by each half
}

// Each thread takes its neighbour's value from the tile.
std::string neighbours(const std::string &between) {
  return "st.shared.b32 [%r2], %r1;" + between +
         "xor.b32 %r5, %r3, 252; mov.b32 %r6, tile; add.s32 %r6, %r6, %r5;"
         "ld.shared.b32 %r4, [%r6]; st.global.b32 [%rd2], %r4;";
}

TEST_F(MachineTest, BarriersOrderWhatThreadsShare) {
  EXPECT_EQ(run(neighbours("bar.sync 0;")), "");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], 63 - i);
  EXPECT_EQ(counts.barriers, 1u);
  EXPECT_NE(run(neighbours("")).find("with no barrier between"), std::string::npos);
}

TEST_F(MachineTest, BlocksShareNothing) {
  EXPECT_EQ(run("ld.global.b32 %r4, [%rd1];", 2), "");
  EXPECT_NE(run("st.global.b32 [%rd1], %r1;", 2).find("with no barrier between"),
            std::string::npos);
  EXPECT_NE(run("ld.global.b32 %r4, [%rd1]; bar.sync 0; mov.u32 %r5, %ctaid.x;"
                "setp.ne.s32 %p1, %r5, 0; @%p1 st.global.b32 [%rd1], %r1;",
                2)
                .find("with no barrier between"),
            std::string::npos);
}

TEST_F(MachineTest, AllThreadsMustComeToABarrier) {
  EXPECT_NE(run("setp.eq.s32 %p1, %r1, 3; @%p1 ret; bar.sync 0;").find("they have ended"),
            std::string::npos);
  EXPECT_NE(run("setp.eq.s32 %p1, %r1, 3; @%p1 bra $A; bar.sync 0; bra $B; $A: bar.sync 0; $B:")
                .find("is at another"),
            std::string::npos);
}

TEST_F(MachineTest, AccessesOutsideAreFound) {
  EXPECT_NE(run("ld.global.b32 %r4, [%rd1+4];").find("outside of what is allocated"),
            std::string::npos);
  EXPECT_NE(run("st.global.b32 [%rd1+-4], %r1;").find("outside of what is allocated"),
            std::string::npos);
  EXPECT_NE(run("ld.shared.b32 %r4, [%r2+512];").find("outside of shared memory"),
            std::string::npos);
  EXPECT_NE(run("ld.global.b64 %rd5, [%rd1];").find("no multiple of them"), std::string::npos);
}

TEST_F(MachineTest, LanesExchangeValues) {
  EXPECT_EQ(run("shfl.sync.bfly.b32 %r4|%p1, %r1, 5, 31, -1; st.global.b32 [%rd2], %r4;"), "");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], i ^ 5);
  // Within halves of a warp; who has no partner keeps its own.
  EXPECT_EQ(run("shfl.sync.down.b32 %r4|%p1, %r1, 3, 4127, -1; st.global.b32 [%rd2], %r4;"), "");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], i % 16 < 13 ? i + 3 : i);
  EXPECT_NE(run("setp.eq.s32 %p1, %r1, 3; @%p1 ret; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;")
                .find("not all of its lanes come"),
            std::string::npos);
}

TEST_F(MachineTest, WordsOfOneBankComeOneAfterTheOther) {
  // 32 words side by side; 16 pairs of words 64 apart; one word for all.
  EXPECT_EQ(run("st.shared.b32 [%r2], %r1;", 1, 32), "");
  EXPECT_EQ(counts.bankTurns, 1u);
  EXPECT_EQ(
      run("and.b32 %r4, %r1, 1; shl.b32 %r4, %r4, 8; and.b32 %r5, %r3, 124; mov.b32 %r6, tile;"
          "add.s32 %r6, %r6, %r4; ld.shared.b32 %r7, [%r6];",
          1, 32),
      "");
  EXPECT_EQ(counts.bankTurns, 3u);
  EXPECT_EQ(counts.leastBankTurns, 2u);
  // 16 bytes a lane: eight lanes at a time.
  EXPECT_EQ(
      run("and.b32 %r4, %r3, 124; shl.b32 %r4, %r4, 2; mov.b32 %r6, tile; add.s32 %r6, %r6, %r4;"
          "ld.shared.v4.b32 {%r7, %r8, %r9, %r10}, [%r6];",
          1, 32),
      "");
  EXPECT_EQ(counts.bankTurns, 7u);
  EXPECT_EQ(counts.leastBankTurns, 6u);
}

// 4 bytes of x for each thread; `after` is between the copy and what reads it.
static std::string copied(const std::string &after) {
  return "cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.commit_group;" + after +
         "ld.shared.b32 %r4, [%r2]; st.global.b32 [%rd2], %r4;";
}

TEST_F(MachineTest, CopiesArriveWhenTheyAreWaitedFor) {
  EXPECT_EQ(run(copied("cp.async.wait_group 0;")), "");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], i);
  EXPECT_EQ(run(copied("cp.async.wait_all;")), "");
  EXPECT_NE(run(copied("")).find("a copy that is under way"), std::string::npos);
  EXPECT_NE(run(copied("cp.async.wait_group 1;")).find("a copy that is under way"),
            std::string::npos);
  // Nothing is read: zeros.
  EXPECT_EQ(run("mov.b32 %r5, 0; cp.async.ca.shared.global [%r2], [%rd1], 4, %r5;"
                "cp.async.wait_all; ld.shared.b32 %r4, [%r2]; st.global.b32 [%rd2], %r4;"),
            "");
  EXPECT_EQ(y[5], 0u);
  // Over what another thread still reads.
  EXPECT_NE(
      run("st.shared.b32 [%r2], %r1; bar.sync 0; xor.b32 %r5, %r2, 4; ld.shared.b32 %r4, [%r5];"
          "cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.wait_all;")
          .find("no barrier between"),
      std::string::npos);
}

TEST_F(MachineTest, LanesGetMatricesByRowsOrColumns) {
  // A matrix whose element (row, column) is 8 * row + column; lane l names row l % 8.
  std::string filled = "shl.b32 %r5, %r1, 1; shl.b32 %r6, %r5, 16; add.s32 %r6, %r6, %r5;"
                       "add.s32 %r6, %r6, 65536; st.shared.b32 [%r2], %r6; bar.sync 0;"
                       "and.b32 %r7, %r1, 7; shl.b32 %r7, %r7, 4; mov.b32 %r8, tile;"
                       "add.s32 %r8, %r8, %r7;";
  EXPECT_EQ(run(filled + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r8];"
                         "st.global.b32 [%rd2], %r9;",
                1, 32),
            "");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(y[i], 2 * i | (2 * i + 1) << 16);
  EXPECT_EQ(run(filled + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r9}, [%r8];"
                         "st.global.b32 [%rd2], %r9;",
                1, 32),
            "");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(y[i], (i % 4 * 16 + i / 4) | (i % 4 * 16 + 8 + i / 4) << 16);
  EXPECT_NE(run(filled + "setp.eq.s32 %p1, %r1, 3; @%p1 ret;"
                         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r8];",
                1, 32)
                .find("not all of its lanes come"),
            std::string::npos);
}

TEST_F(MachineTest, WarpsMultiplyMatrices) {
  // a: ones in row 3, k = 5 holds 2 instead; b: column 6 holds 1.5 at k = 5; c is 1 everywhere. bf16.
  EXPECT_EQ(run("mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0f3F800000; setp.eq.s32 %p1, %r1, 14;"
                "selp.b32 %r4, 1073741824, 0, %p1; setp.eq.s32 %p1, %r1, 26;"
                "selp.b32 %r5, 1069547520, 0, %p1; mov.b32 %r7, 0;"
                "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r8, %r9, %r10, %r11},"
                "{%r4, %r7, %r7, %r7}, {%r5, %r7}, {%r6, %r6, %r6, %r6};"
                "st.global.b32 [%rd2], %r8;",
                1, 32),
            "");
  // Row 3, columns 6 and 7 are lane 15's.
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(y[i], i == 15 ? 0x40800000u : 0x3f800000u);
}

TEST_F(MachineTest, WarpsMultiplyMatricesOfBytes) {
  // a: row 3 has -2 at k = 21 (lane 13, third of its registers); b: column 6 has 200 there (lane 25, its second); c is
  // 1 everywhere. Lane 15 has row 3, columns 6 and 7.
  std::string given =
      "setp.eq.s32 %p1, %r1, 13; selp.b32 %r4, 65024, 0, %p1; setp.eq.s32 %p1, %r1, 25;"
      "selp.b32 %r5, 51200, 0, %p1; mov.b32 %r6, 1; mov.b32 %r7, 0;";
  EXPECT_EQ(run(given + "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r8, %r9, %r10, %r11},"
                        "{%r7, %r7, %r4, %r7}, {%r7, %r5}, {%r6, %r6, %r6, %r6};"
                        "st.global.b32 [%rd2], %r8;",
                1, 32),
            "");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(y[i], i == 15 ? static_cast<uint32_t>(-399) : 1u);
  EXPECT_EQ(run(given + "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%r8, %r9, %r10, %r11},"
                        "{%r7, %r7, %r4, %r7}, {%r7, %r5}, {%r6, %r6, %r6, %r6};"
                        "st.global.b32 [%rd2], %r8;",
                1, 32),
            "");
  EXPECT_EQ(y[15], static_cast<uint32_t>(1 - 254 * 56));
}

TEST_F(MachineTest, FloatsAreRoundedAsWritten) {
  // 1 + 2^-24 is a tie: to even; what is subnormal is flushed where that is said.
  EXPECT_EQ(run("mov.b32 %r4, 0f3F800000; mov.b32 %r5, 0f33800000; add.rn.f32 %r6, %r4, %r5;"
                "st.global.b32 [%rd2], %r6;"),
            "");
  EXPECT_EQ(y[0], 0x3f800000u);
  EXPECT_EQ(run("mov.b32 %r4, 0f00400000; mov.b32 %r5, 0f3F800000; mul.rn.ftz.f32 %r6, %r4, %r5;"
                "st.global.b32 [%rd2], %r6;"),
            "");
  EXPECT_EQ(y[0], 0u);
  EXPECT_EQ(run("mov.b32 %r4, 0fBFC00000; cvt.rzi.s32.f32 %r6, %r4; st.global.b32 [%rd2], %r6;"),
            "");
  EXPECT_EQ(y[0], static_cast<uint32_t>(-1));
}

TEST_F(MachineTest, TwoNumbersBecomeARegisterOfBf16) {
  // The first one is the upper half; 1 + 2^-8 is a tie: to even; what is subnormal stays; NaN has one form.
  EXPECT_EQ(run("mov.b32 %r4, 0f3F808000; mov.b32 %r5, 0f80010001; cvt.rn.bf16x2.f32 %r6, %r4, %r5;"
                "st.global.b32 [%rd2], %r6;"),
            "");
  EXPECT_EQ(y[0], 0x3f808001u);
  EXPECT_EQ(run("mov.b32 %r4, 0fFFC00001; mov.b32 %r5, 0f3F818000; cvt.rn.bf16x2.f32 %r6, %r4, %r5;"
                "st.global.b32 [%rd2], %r6;"),
            "");
  EXPECT_EQ(y[0], 0x7fff3f82u);
}

TEST_F(MachineTest, SignsFillRegistersThatAreWider) {
  // 250 is -6 of eight bits: less than 4 as 16 bits too.
  EXPECT_EQ(run("mov.b32 %r4, 250; cvt.s8.s32 %r5, %r4; mov.b32 %r6, 4; max.s32 %r6, %r5, %r6;"
                "st.global.b32 [%rd2], %r6;"),
            "");
  EXPECT_EQ(y[0], 4u);
  EXPECT_EQ(run("mov.b32 %r4, 250; cvt.u8.u32 %r5, %r4; st.global.b32 [%rd2], %r5;"), "");
  EXPECT_EQ(y[0], 250u);
}

TEST_F(MachineTest, SumsAndDifferencesHandACarryOn) {
  const char *sum = "mov.b32 %r4, -1; mov.b32 %r5, 1; add.cc.s32 %r6, %r4, %r5;"
                    "addc.cc.s32 %r6, %r4, 0; addc.s32 %r6, 7, 0; st.global.b32 [%rd2], %r6;";
  EXPECT_EQ(run(sum), ""); // -1 + 1 = 0, 1 over; -1 + 0 + 1 = 0, 1 over; 7 + 0 + 1
  EXPECT_EQ(y[0], 8u);
  EXPECT_EQ(run("mov.b64 %rd4, 3; sub.cc.s64 %rd5, %rd4, 4; subc.s64 %rd5, %rd4, 0;"
                "st.global.b32 [%rd2], %rd5;"),
            "");
  EXPECT_EQ(y[0], 2u);
  EXPECT_NE(run("add.cc.f32 %r4, %r1, %r1;").find("not known"), std::string::npos);
}

TEST_F(MachineTest, HalvesOfARegisterAreAddedAndCompared) {
  // {0x7fff, 0xffff} and {1, 1}: nothing is carried from half to half; -1 is less than 1, as a sign says.
  const std::string halves = "mov.b32 %r4, 0x7fffffff; mov.b32 %r5, 0x00010001;";
  const std::string store = " %r6, %r4, %r5; st.global.b32 [%rd2], %r6;";
  auto result = [&](const char *name) { return run(halves + name + store) == "" ? y[0] : 0; };
  EXPECT_EQ(result("add.s16x2"), 0x80000000u);
  EXPECT_EQ(result("min.s16x2"), 0x0001ffffu);
  EXPECT_EQ(result("max.s16x2"), 0x7fff0001u);
  EXPECT_EQ(result("max.u16x2"), 0x7fffffffu);
  EXPECT_NE(run("mul.s16x2" + store).find("not known"), std::string::npos);
}

TEST_F(MachineTest, WhatIsNotKnownIsRefused) {
  EXPECT_NE(run("sin.approx.f32 %r4, %r1;").find("instruction 'sin.approx.f32' is not known"),
            std::string::npos);
  EXPECT_NE(run("add.rz.f32 %r4, %r1, %r1;").find("not known"), std::string::npos);
  EXPECT_NE(run("add.s32 %r99, %r1, %r1;").find("%r99 is not declared"), std::string::npos);
}

} // namespace
} // namespace tessera::emulator
