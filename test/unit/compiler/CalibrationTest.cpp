// What the programs of a calibration do, and what a step of some of them is priced by.
#include "compiler/calibrate/Calibrate.h"
#include "compiler/calibrate/Run.h"
#include "compiler/calibrate/Text.h"
#include "lib/cost/FitRates.h"
#include "lib/cost/KernelTerms.h"
#include "lib/target/Target.h"

#include <gtest/gtest.h>

namespace tessera::calibration {
namespace {

cost::Topology machine() {
  cost::Topology topology;
  topology.device = cost::referenceRates();
  topology.device.cacheBytes = 1 << 20;
  topology.device.sharedBytes = 8 << 20;
  topology.device.nearBytes = 36 << 10;
  topology.computingAtOnce = 2;
  return topology;
}

cost::Terms termsOf(const Program &program) {
  Compiled compiled = compileFor(program, machine(), target::kDefaultTarget);
  EXPECT_EQ(compiled.error, "") << program.name;
  return compiled.work.terms;
}

// A rate that no program tells stays as it is on another machine. (It was so of integer division, of
// reductions by regions and of the runtime's functions, and what goes by them was priced eight times too
// long, or too short.)
TEST(Calibration, EveryKindOfWorkIsMeasured) {
  cost::Terms all;
  for (const Program &program : kernelPrograms(2, machine().device.sharedBytes, false))
    all.add(termsOf(program));
  for (const Program &program : exchangePrograms(8, true))
    all.add(termsOf(program));
  for (unsigned i = 0; i < cost::kTerms; ++i)
    EXPECT_GT(all.amount[i], 0) << nameOf(static_cast<cost::Term>(i));
}

// What cores do that share a kernel is told beside the same kernel on each of them at once, as rates are.
// (Set beside one core that computed alone, and was quicker, steps of one device were predicted at half as
// long again.)
TEST(Calibration, SharedKernelsAreSetBesideBusyCores) {
  std::vector<Program> programs = sharedPrograms(2);
  size_t count = programs.size() / 2;
  ASSERT_EQ(programs.size(), 2 * count);
  for (size_t i = 0; i < count; ++i) {
    const Program &busy = programs[i], &shared = programs[count + i];
    EXPECT_EQ(busy.name, shared.name);
    EXPECT_EQ(busy.devices, 2);
    EXPECT_EQ(shared.devices, 1);
    EXPECT_EQ(busy.threads, 2);
    EXPECT_EQ(shared.threads, 2);
  }
}

// A machine on which a kernel takes as long alone as shared, and in a short step half as long again: those
// who come are late. In the first round of these steps somebody else is in the way of the last.
int timesShared = 0;
std::string measured(const command::ProgramToMeasure &program, std::vector<double> &seconds) {
  auto is = [&](const char *name) { return llvm::StringRef(program.bytes).contains(name); };
  double each = is("short step that is shared") ? (timesShared++ == 0 ? 450e-6 : 150e-6)
                : is("short step of one")       ? 100e-6
                : is("short step")              ? 2e-6
                                                : 1e-3;
  seconds.assign(2, each);
  return "";
}

// What idle cores are told by is a difference, which one disturbed round must not make. (They took .4 ms to
// wake up here, for .1.)
TEST(Calibration, OneRoundDoesNotMakeCoresWakeUpLate) {
  command::Measuring machine{measured, nullptr, nullptr};
  CalibrationOptions options{.quick = true, .measuring = machine};
  timesShared = 0;
  Calibration result = calibrate(options);
  ASSERT_EQ(result.error, "");
  double cores = double(result.topology.computingAtOnce);
  if (cores < 2)
    GTEST_SKIP() << "one core";
  EXPECT_GT(timesShared, 2);
  EXPECT_NEAR(result.topology.device.wakingSeconds, 50e-6 / (1 - 1 / cores), 1e-9);
}

// What devices exchange is told by the same step without, which does all else as often.
TEST(Calibration, StepsDifferByTheirExchange) {
  std::vector<ExchangeProgram> programs = exchangePrograms(8, true);
  ASSERT_EQ(programs.size(), 8u); // of two sizes
  cost::Terms without;
  for (size_t i = 0; i < programs.size(); ++i) {
    const ExchangeProgram &program = programs[i];
    EXPECT_EQ(program.without, i / 4 * 4);
    cost::Terms with = termsOf(program);
    if (program.without == i) {
      without = with;
      continue;
    }
    EXPECT_GT(with[cost::Term::Exchanged] + with[cost::Term::Combined], 0) << program.name;
    EXPECT_EQ(without[cost::Term::Exchanged] + without[cost::Term::Combined], 0);
    EXPECT_EQ(without[cost::Term::TakenBack], 0);
    EXPECT_EQ(with[cost::Term::Arithmetic], without[cost::Term::Arithmetic]);
  }
}

// What a kernel writes where a collective has read before, another of two cores has too, as often as
// not.
TEST(Calibration, LinesThatOthersHaveReadAreTakenBack) {
  int found = 0;
  for (const ExchangeProgram &program : exchangePrograms(8, true))
    if (llvm::StringRef(program.name).starts_with("all_to_all") && program.without == 0) {
      EXPECT_NEAR(termsOf(program)[cost::Term::TakenBack] / 24, (1 << 14) * 4 / 2, 4096);
      ++found;
    }
  EXPECT_EQ(found, 1);
}

// Eight devices exchange an array %x1 of 1 MB, whose memory another one is copied to afterwards; %z is
// made of what they have then, %y.
Program exchanging(const std::string &lines) {
  std::string type = "tensor<2048x128xf32>", both = "[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>]";
  return {"exchanging",
          "module attributes {mhlo.num_partitions = 8 : i32} {\n" + meshText(8) +
              "  func.func public @main(%a0: " + type + ", %a1: " + type +
              " {tf.aliasing_output = 1 : i32}) -> (" + type + ", " + type +
              ") {\n    %out:2 = sdy.manual_computation(%a0, %a1) in_shardings=" + both +
              " out_shardings=" + both + " manual_axes={\"d\"} (%x0: " + type + ", %x1: " + type +
              ") {\n      %y = \"stablehlo.all_to_all\"(%x1) <{concat_dimension = 0 : i64, "
              "split_dimension = 0 : i64, split_count = 8 : i64, replica_groups = dense<[[0, 1, 2, "
              "3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = "
              "#stablehlo.channel_handle<handle = 1, type = 1>}> : (" +
              type + ") -> " + type + "\n" + lines + "      sdy.return %z, %x0 : " + type + ", " +
              type + "\n    } : (" + type + ", " + type + ") -> (" + type + ", " + type +
              ")\n    return %out#0, %out#1 : " + type + ", " + type + "\n  }\n}\n",
          8, 0};
}

// By copies, too, and of an array that is updated where it lies as much as is written.
TEST(Calibration, AsMuchIsTakenBackAsIsWritten) {
  constexpr double copied = 2048 * 128 * 4 / 2;
  Program whole = exchanging("      %z = stablehlo.add %y, %y : tensor<2048x128xf32>\n");
  Program part = exchanging(
      "      %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "      %part = stablehlo.slice %x0 [0:64, 0:128] : (tensor<2048x128xf32>) -> "
      "tensor<64x128xf32>\n      %made = stablehlo.negate %part : tensor<64x128xf32>\n"
      "      %z = stablehlo.dynamic_update_slice %y, %made, %zero, %zero : (tensor<2048x128xf32>, "
      "tensor<64x128xf32>, tensor<i32>, tensor<i32>) -> tensor<2048x128xf32>\n");
  EXPECT_NEAR(termsOf(whole)[cost::Term::TakenBack], copied + 2048 * 128 * 4 / 2, 4096);
  EXPECT_NEAR(termsOf(part)[cost::Term::TakenBack], copied + 64 * 128 * 4 / 2, 4096);
}

// Two arrays in turns, to which products are added where they lie: by strips, as rows are no multiple of 2 KiB.
Program updatesOf(const std::string &rows) {
  std::string sums = "tensor<" + rows + "x480xf32>", a = "tensor<16x" + rows + "xf32>",
              b = "tensor<16x480xf32>";
  Body body;
  std::string numbers = "contracting_dims = [0] x [0]";
  std::string next = body.unary("negate", "%x1", b);
  std::string first = body.binary("add", "%x2", body.dot("%x0", "%x1", numbers, a, b, sums), sums);
  std::string second = body.binary("add", "%x3", body.dot("%x0", next, numbers, a, b, sums), sums);
  return {"sums", looped(1, 9, {{a, "%x0"}, {b, next}, {sums, first}, {sums, second}}, body.text),
          1, 1};
}

// They go back to where they came from: those of 2 MB to the cache that cores share.
TEST(Calibration, WhatIsUpdatedInPlaceIsCarriedBack) {
  auto writtenBy = [](const std::string &rows) {
    return termsOf(updatesOf(rows))[cost::Term::WrittenStrips] / 9;
  };
  EXPECT_LT(writtenBy("32"), 32e3);    // of 64 KB each, which any core's own cache holds
  EXPECT_GT(writtenBy("2048"), 3.7e6); // of 4 MB each
}

} // namespace
} // namespace tessera::calibration
