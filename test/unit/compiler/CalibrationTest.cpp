// What the programs of a calibration do, and what a step of some of them is priced by.
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

// What devices exchange is told by the same step without, which does all else as often.
TEST(Calibration, StepsDifferByTheirExchange) {
  std::vector<Program> programs = exchangePrograms(8, true);
  size_t count = programs.size() / 2;
  ASSERT_EQ(count, 3u);
  for (size_t i = 0; i < count; ++i) {
    cost::Terms with = termsOf(programs[i]), without = termsOf(programs[count + i]);
    EXPECT_GT(with[cost::Term::Exchanged] + with[cost::Term::Combined], 0) << programs[i].name;
    EXPECT_EQ(without[cost::Term::Exchanged] + without[cost::Term::Combined], 0);
    EXPECT_EQ(without[cost::Term::TakenBack], 0);
    EXPECT_EQ(with[cost::Term::Exponential], without[cost::Term::Exponential]);
  }
}

// What a kernel writes where a collective has read before, another of two cores has too, as often as
// not.
TEST(Calibration, LinesThatOthersHaveReadAreTakenBack) {
  std::vector<Program> programs = exchangePrograms(8, true);
  for (const Program &program : programs)
    if (llvm::StringRef(program.name).starts_with("all_to_all"))
      EXPECT_NEAR(termsOf(program)[cost::Term::TakenBack] / 24, (1 << 14) * 4 / 2, 4096);
}

// Two arrays in turns, to which products are added where they lie.
Program updatesOf(const std::string &rows) {
  std::string sums = "tensor<" + rows + "x512xf32>", a = "tensor<16x" + rows + "xf32>",
              b = "tensor<16x512xf32>";
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
  EXPECT_LT(writtenBy("128"), 128e3); // of 256 KB each, which the core's own cache holds
  EXPECT_GT(writtenBy("2048"), 4e6);  // of 4 MB each
}

} // namespace
} // namespace tessera::calibration
