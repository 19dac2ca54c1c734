// Equal layers of a program as one.
#include "lib/plan/Folded.h"

#include "EinsumProgram.h"
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/Memory.h"
#include "lib/plan/Search.h"

#include <gtest/gtest.h>

#include <random>

namespace tessera::plan {
namespace {

std::vector<std::vector<size_t>> repeats(std::vector<int32_t> numbers, size_t least) {
  std::vector<std::vector<size_t>> all;
  for (const Repeat &each : repeatsIn(numbers, least))
    all.push_back({each.begin, each.end, each.distance});
  return all;
}

TEST(Folded, RepeatsAreWholeRounds) {
  using All = std::vector<std::vector<size_t>>;
  EXPECT_EQ(repeats({7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9}, 1), (All{{1, 10, 3}}));
  EXPECT_EQ(repeats({7, 1, 2, 3, 1, 2, 9}, 1), All{}); // two thirds of a second round
  // Too short to be a layer: two rounds are one.
  EXPECT_EQ(repeats({1, 2, 1, 2, 1, 2, 1, 2, 5}, 3), (All{{0, 8, 4}}));
  // Forward, then backward; what is in one is not in another.
  EXPECT_EQ(repeats({1, 2, 3, 1, 2, 3, 1, 2, 3, 8, 5, 4, 5, 4}, 2), (All{{0, 9, 3}, {10, 14, 2}}));
  EXPECT_EQ(repeats({}, 1), All{});
}

// The longest run first, whatever was looked at before: of few numbers, so that many distances are alike.
TEST(Folded, RepeatsAreThoseThatSaveMost) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::vector<int32_t> numbers(60);
    for (size_t at = 0; at < numbers.size(); ++at)
      numbers[at] = random() % 8 && at >= 3 ? numbers[at - 3] : int32_t(random() % 3);
    size_t before = numbers.size();
    for (const std::vector<size_t> &each : repeats(numbers, 2)) {
      size_t saved = each[1] - each[0] - each[2];
      EXPECT_LE(saved, before);
      before = saved;
      for (size_t at = each[0] + each[2]; at < each[1]; ++at)
        EXPECT_EQ(numbers[at], numbers[at - each[2]]);
    }
  }
}

// A layer: 12 products with two weights in turn, and what is done element by element between.
Program layersOf(int count, bool lastDiffers, bool updates = false) {
  EinsumProgram made;
  std::vector<int32_t> weights;
  int32_t x = made.argument({512, 256}), scale = made.argument({512, 256});
  for (int layer = 0; layer < count; ++layer) {
    int32_t up = made.argument({256, 1024}), down = made.argument({1024, 256});
    weights.push_back(up);
    for (int i = 0; i < 12; ++i) {
      int32_t hidden = made.pointwise({made.einsum("bk,kn->bn", {x, up})});
      x = made.pointwise({x, made.einsum("bk,kn->bn", {hidden, down})});
    }
    x = made.pointwise({x, scale});
  }
  if (lastDiffers)
    x = made.einsum("bk,kn->bn", {x, made.argument({256, 64})});
  made.result(x);
  for (int32_t weight : weights)
    if (updates) {
      int32_t given = made.result(made.pointwise({weight}));
      made.program.values[weight].donatedTo = made.program.values[given].result;
    }
  Program &program = made.program;
  std::map<std::vector<int64_t>, int32_t> rules; // those of one op's shapes are one
  for (size_t index = 0; index < program.ops.size(); ++index) {
    sharding::PropagatedOp &op = program.graph.ops[index];
    std::vector<int64_t> key{op.elementwise};
    for (const auto *side : {&op.operands, &op.results})
      for (int32_t v : *side) {
        llvm::append_range(key, program.graph.values[v].shape);
        program.values[v].last = int32_t(index);
      }
    op.rule = rules.try_emplace(key, op.rule).first->second;
    program.values[op.results[0]].first = int32_t(index);
  }
  for (ValueFacts &facts : program.values)
    if (facts.argument >= 0) // the caller holds it
      facts.last = int32_t(program.ops.size()) - 1;
  return program;
}

// 50 layers of 49 ops become one; what any plan takes and holds stays.
TEST(Folded, LayersAreOneAndCountAllTheSame) {
  Program whole = layersOf(50, /*lastDiffers=*/true);
  double launches = 0, foldedLaunches = 0;
  for (auto [index, facts] : llvm::enumerate(whole.ops)) {
    facts.launches = double(index % 5); // kernels differ where shapes do not
    launches += facts.launches;
  }
  Folded folded = foldedProgram(whole);
  EXPECT_LE(folded.program.ops.size(), 56u); // what reads the first layer's input is another op
  double times = 0;
  for (const OpFacts &facts : folded.program.ops) {
    times += facts.times;
    foldedLaunches += facts.times * facts.launches;
  }
  EXPECT_EQ(times, double(whole.ops.size()));
  EXPECT_NEAR(foldedLaunches, launches, 1e-6);
  sharding::Mesh mesh{"mesh", {{"x", 4}}, {}};
  cost::Topology topology = cost::defaultTopology();
  for (const NamedAssignment &plan : knownPlans(folded.program, mesh)) {
    Assignment all = folded.unfolded(plan.values);
    EXPECT_NEAR(assignmentSeconds(folded.program, mesh, topology, plan.values) /
                    assignmentSeconds(whole, mesh, topology, all),
                1, 1e-6)
        << plan.kind;
    EXPECT_EQ(peakBytes(folded.program, plan.values), peakBytes(whole, all)) << plan.kind;
  }
  // Copies of a weight in parts are held while its own layer reads them, not as in a loop to the end.
  for (const NamedAssignment &plan : knownPlans(folded.program, mesh)) {
    AssignmentPrices one(folded.program, mesh, topology), all(whole, mesh, topology);
    Assignment unfolded = folded.unfolded(plan.values);
    one.seconds(plan.values);
    all.seconds(unfolded);
    double bytes = one.peakBytes(plan.values), asWhole = all.peakBytes(unfolded);
    EXPECT_NEAR(bytes, asWhole, 0.02 * asWhole) << plan.kind;
  }
  // What all layers read is brought to them once.
  for (auto [op, facts] : llvm::zip_equal(folded.program.graph.ops, folded.program.ops))
    for (auto [v, brought] : llvm::zip_equal(op.operands, facts.operandTimes))
      if (folded.program.values[v].argument == 1)
        EXPECT_EQ(brought, 1);
}

// From some layer on an op is in another kernel, as an unrolled model's are: all layers lie alike nevertheless.
TEST(Folded, LayersInOtherKernelsLieAlike) {
  Program whole = layersOf(50, /*lastDiffers=*/true);
  size_t values = foldedProgram(whole).program.values.size();
  whole.kernels.resize(2);
  for (auto [kernel, flops, bytes] :
       llvm::zip(whole.kernels, std::array{1e6, 2e6}, std::array{1e6, 3e6}))
    kernel.flops = flops, kernel.bytes = bytes;
  for (size_t index = 0; index < whole.ops.size(); ++index) {
    OpFacts &facts = whole.ops[index];
    KernelPart part;
    part.kernel = index % 49 == 10 && index > 30 * 49;
    part.reads.assign(whole.graph.ops[index].operands.size(), 0);
    part.writes.assign(whole.graph.ops[index].results.size(), 0);
    facts.parts = {part};
  }
  Folded folded = foldedProgram(whole);
  EXPECT_EQ(folded.program.values.size(), values);
  double times = 0;
  for (const OpFacts &facts : folded.program.ops)
    times += facts.times;
  EXPECT_EQ(times, double(whole.ops.size()));
}

// The next step has to move the weights of all layers, not of the one that stands for them.
TEST(Folded, StateThatLiesOtherwiseIsMovedForEachLayer) {
  Program whole = layersOf(50, /*lastDiffers=*/false, /*updates=*/true);
  Folded folded = foldedProgram(whole);
  EXPECT_LT(folded.program.ops.size(), 60u);
  sharding::Mesh mesh{"mesh", {{"x", 4}}, {}};
  cost::Topology topology = cost::defaultTopology();
  Assignment plan = KnownPlans(folded.program).annotated();
  double replicated = assignmentSeconds(folded.program, mesh, topology, plan);
  for (auto [v, facts] : llvm::enumerate(folded.program.values))
    if (facts.result > 0)
      plan[v].dims[0].axes = {{0, 1, 4}};
  double seconds = assignmentSeconds(folded.program, mesh, topology, plan);
  EXPECT_GT(seconds, replicated);
  EXPECT_NEAR(seconds / assignmentSeconds(whole, mesh, topology, folded.unfolded(plan)), 1, 1e-6);
}

TEST(Folded, SmallProgramsStayAsTheyAre) {
  Program whole = layersOf(20, /*lastDiffers=*/false);
  EXPECT_EQ(foldedProgram(whole).program.ops.size(), whole.ops.size());
}

} // namespace
} // namespace tessera::plan
