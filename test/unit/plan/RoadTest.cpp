// What plans cost in the search's model, beside what the road makes of the program.
#include "lib/plan/KnownPlans.h"
#include "lib/plan/Launches.h"
#include "lib/plan/Search.h"

#include "RandomPlans.h"
#include "RoadFixture.h"

namespace tessera::plan {
namespace {

using namespace mlir;

// A step of two layers: products, an elementwise function between, a gradient of each weight.
constexpr const char *kStep = R"(
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%x: tensor<256x512xf32>,
                       %v: tensor<512x1024xf32>, %w: tensor<1024x512xf32>) -> (tensor<512x1024xf32>, tensor<1024x512xf32>) {
  %h = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %t = stablehlo.tanh %h : tensor<256x1024xf32>
  %y = stablehlo.dot_general %t, %w, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x512xf32>) -> tensor<256x512xf32>
  %d = stablehlo.subtract %y, %x : tensor<256x512xf32>
  %gw = stablehlo.dot_general %t, %d, contracting_dims = [0] x [0] : (tensor<256x1024xf32>, tensor<256x512xf32>) -> tensor<1024x512xf32>
  %dt = stablehlo.dot_general %d, %w, contracting_dims = [1] x [1] : (tensor<256x512xf32>, tensor<1024x512xf32>) -> tensor<256x1024xf32>
  %tt = stablehlo.multiply %t, %t : tensor<256x1024xf32>
  %dh = stablehlo.multiply %dt, %tt : tensor<256x1024xf32>
  %gv = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<256x512xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  %v2 = stablehlo.subtract %v, %gv : tensor<512x1024xf32>
  %w2 = stablehlo.subtract %w, %gw : tensor<1024x512xf32>
  return %v2, %w2 : tensor<512x1024xf32>, tensor<1024x512xf32>
})";

// One sequence's attention: its scores would be 4 MiB, all else half a MiB.
constexpr const char *kAttention = R"(
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%q: tensor<4x512x32xf32>, %k: tensor<4x512x32xf32>, %v: tensor<4x512x32xf32>) -> tensor<4x512x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %m = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %d = stablehlo.subtract %s, %mb : tensor<4x512x512xf32>
  %e = stablehlo.exponential %d : tensor<4x512x512xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %p = stablehlo.divide %e, %lb : tensor<4x512x512xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  return %o : tensor<4x512x32xf32>
})";

// A gradient's product, its transpose and the update are one kernel; halves that are turned and joined
// are read as whole arrays.
constexpr const char *kRewritten = R"(
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%x: tensor<64x256xf32>, %w: tensor<256x512xf32>, %d: tensor<64x512xf32>, %q: tensor<512x8x24xf32>)
    -> (tensor<256x512xf32>, tensor<512x8x24xf32>) {
  %g = stablehlo.dot_general %d, %x, contracting_dims = [0] x [0] : (tensor<64x512xf32>, tensor<64x256xf32>) -> tensor<512x256xf32>
  %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<512x256xf32>) -> tensor<256x512xf32>
  %s = stablehlo.subtract %w, %t : tensor<256x512xf32>
  %a = stablehlo.slice %q [0:512, 0:8, 0:12] : (tensor<512x8x24xf32>) -> tensor<512x8x12xf32>
  %b = stablehlo.slice %q [0:512, 0:8, 12:24] : (tensor<512x8x24xf32>) -> tensor<512x8x12xf32>
  %n = stablehlo.negate %b : tensor<512x8x12xf32>
  %r = stablehlo.concatenate %n, %a, dim = 2 : (tensor<512x8x12xf32>, tensor<512x8x12xf32>) -> tensor<512x8x24xf32>
  %m = stablehlo.add %r, %q : tensor<512x8x24xf32>
  return %s, %m : tensor<256x512xf32>, tensor<512x8x24xf32>
})";

TEST_F(Road, KnownPlansMoveAsModelled) {
  // A device that computes in no time, so that only what moves counts, for the road's decisions too.
  auto run = runOn(R"({"alpha": 1e-6, "beta": 5e9, "flops": 1e30, "memory": 1e30})", kStep);
  ASSERT_TRUE(run->isValid());
  std::vector<NamedAssignment> plans = knownPlans(run->data(), run->mesh());
  plans.push_back({"found", planOnMesh(run->data(), run->mesh(), run->topology(), {}).values});
  ASSERT_GT(plans.size(), 3u);
  for (const NamedAssignment &plan : plans) {
    std::optional<double> road = run->reshardSeconds(plan.values);
    ASSERT_TRUE(road) << plan.kind;
    EXPECT_NEAR(run->modelSeconds(plan.values), *road, 0.02 * *road + 1e-9) << plan.kind;
  }
}

// benchmarks/plan_road.py does the same with large programs.
TEST_F(Road, RandomPlansTakeAsModelled) {
  constexpr uint64_t kSeed = 20;
  std::unique_ptr<RoadRun> run =
      runOn(R"({"alpha": 1e-6, "beta": 5e9, "flops": 2e10, "memory": 1e10})", kStep);
  ASSERT_TRUE(run->isValid());
  std::mt19937_64 random(kSeed);
  std::vector<double> errors;
  for (int number = 0; number < 12; ++number) {
    Assignment plan = randomPlan(run->data(), run->mesh(), random, 0.5, number % 3 == 2 ? 0.1 : 0);
    std::optional<RoadRun::Step> road = run->step(plan);
    ASSERT_TRUE(road) << "seed " << kSeed << ", plan " << number;
    double model = run->modelSeconds(plan);
    errors.push_back(std::abs(model / road->seconds - 1));
    EXPECT_LE(errors.back(), 0.1) << "seed " << kSeed << ", plan " << number << ": " << model
                                  << " s, the road " << road->seconds;
  }
  llvm::sort(errors);
  EXPECT_LE(errors[errors.size() / 2], 0.02);
}

// A weight that is given in parts and taken whole: the device program leaves it in parts. The parts of what is
// counted are all of it.
TEST_F(Road, WhatTheNextStepMovesIsNoPartOfTheProgram) {
  auto run = runOn(R"({"alpha": 1e-5, "beta": 5e9, "flops": 2e12, "memory": 1e12, "launch": 1e-6})",
                   kStep);
  ASSERT_TRUE(run->isValid());
  Assignment plan = knownPlans(run->data(), run->mesh()).front().values;
  for (auto [facts, sharding] : llvm::zip_equal(run->data().values, plan))
    if (facts.result == 0)
      sharding.dims[0].axes = {{0, 1, 2}};
  AssignmentPrices prices(run->data(), run->mesh(), run->topology());
  StepParts parts;
  double all = prices.seconds(plan, &parts);
  EXPECT_GT(parts.restoring, 0.05 * all);
  double launches = run->modelLaunches(), model = run->modelSeconds(plan);
  EXPECT_NEAR(model, all + launches - parts.restoring, 1e-12);
  RoadRun::Links links = run->modelLinks(plan);
  EXPECT_NEAR(model, run->modelComputing(plan) + links.seconds + links.dividing + launches,
              1e-6 * model);
  std::optional<RoadRun::Step> road = run->step(plan);
  ASSERT_TRUE(road);
  EXPECT_NEAR(model, road->seconds, 0.02 * road->seconds);
}

// What computing takes, by the rates of a machine that was measured; the caches hold all.
TEST_F(Road, KernelsAreThoseOfTheWholePhase) {
  auto run = runOn(R"({"alpha": 1e-6, "beta": 5e9, "flops": 2e11, "memory": 1e11, "cache": 1e8,
      "kernels": {"arithmetic": 3e10, "one_by_one": 1e9, "turned": 2e9, "strided": 1e9, "product_f32": 2e11, "runs": 2e8,
                  "results": 1e9, "copied": 5e9, "copied_turned": 2e9, "begins": 3e8, "warm_strips": 5e10, "warm": 1e11}})",
                   kRewritten);
  ASSERT_TRUE(run->isValid());
  Assignment whole = knownPlans(run->data(), run->mesh()).front().values;
  std::optional<RoadRun::Step> road = run->step(whole);
  ASSERT_TRUE(road);
  EXPECT_NEAR(run->modelComputing(whole), road->compute, 0.02 * road->compute);
  auto computing = run->computing(whole);
  ASSERT_TRUE(computing);
  for (const RoadRun::Computing &each : *computing)
    EXPECT_NEAR(each.model, each.road, 0.02 * road->compute) << each.kernels.front();
}

// A loop whose kernel computes an op from outside anew in each round; what counts rounds is launched, too.
constexpr const char *kLoop = R"(
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%x: tensor<64x64xf32>, %s: tensor<64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<7> : tensor<i32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<7>}
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %q = stablehlo.multiply %p, %b : tensor<64x64xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %q : tensor<i32>, tensor<64x64xf32>
  }
  return %r#1 : tensor<64x64xf32>
})";

// All kernels that the road launches are counted, in each round.
TEST_F(Road, LaunchesOfLoopsAreCounted) {
  auto run = runOn(R"({"alpha": 1e-6, "beta": 5e9, "flops": 1e12, "memory": 1e12, "launch": 2e-6})",
                   kLoop);
  ASSERT_TRUE(run->isValid());
  std::optional<RoadRun::Step> road =
      run->step(knownPlans(run->data(), run->mesh()).front().values);
  ASSERT_TRUE(road);
  EXPECT_GE(road->overhead, 7 * 2 * 2e-6 * (1 - 1e-12)); // sums of trips are rounded
  EXPECT_NEAR(launchSeconds(run->data(), run->topology(), 8), road->overhead, 1e-9);
}

// A step's loss, which is scaled as a scalar and returned, comes while the backward pass is computed; a norm that
// the update is scaled by is waited for.
TEST_F(Road, SumsHideUntilTheyAreReadByWayOfScalars) {
  auto run = runOn(R"({"alpha": 1e-6, "beta": 5e9, "flops": 1e12, "memory": 1e12, "launch": 2e-6})",
                   R"(
    sdy.mesh @mesh = <["x"=8]>
    func.func public @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>)
        -> (tensor<64x64xf32>, tensor<f32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %count = stablehlo.constant dense<64.0> : tensor<f32>
      %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
        (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %sum = stablehlo.reduce(%h init: %zero) applies stablehlo.add across dimensions = [0, 1] :
        (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
      %loss = stablehlo.divide %sum, %count : tensor<f32>
      %g = stablehlo.dot_general %x, %h, contracting_dims = [0] x [0] :
        (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %squares = stablehlo.multiply %g, %g : tensor<64x64xf32>
      %norm = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1] :
        (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
      %rate = stablehlo.rsqrt %norm : tensor<f32>
      %scale = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
      %scaled = stablehlo.multiply %g, %scale : tensor<64x64xf32>
      %new = stablehlo.subtract %w, %scaled : tensor<64x64xf32>
      return %new, %loss : tensor<64x64xf32>, tensor<f32>
    })");
  ASSERT_TRUE(run->isValid());
  std::vector<double> beside; // of sums that are scalars
  for (const sharding::PropagatedOp &op : run->data().graph.ops)
    if (int32_t v = op.results[0];
        reduces(run->data().graph.rules[op.rule]) && run->data().graph.values[v].shape.empty())
      beside.push_back(run->data().values[v].secondsBeside);
  ASSERT_EQ(beside.size(), 2u);
  EXPECT_GT(beside[0], beside[1]); // beside the norm there is the loss's sum alone
}

// A step waits for the start of its kernels, which what is said of a plan includes.
TEST_F(Road, WholeValuesTakeAsModelledWithLaunches) {
  auto run = runOn(
      R"({"alpha": 1e-6, "beta": 5e10, "flops": 1e12, "memory": 1e12, "launch": 4e-6})", kStep);
  ASSERT_TRUE(run->isValid());
  Assignment whole = knownPlans(run->data(), run->mesh()).front().values;
  std::optional<RoadRun::Step> road = run->step(whole);
  ASSERT_TRUE(road);
  EXPECT_GT(road->overhead, 0.01 * road->seconds); // or nothing is shown
  EXPECT_NEAR(run->modelSeconds(whole), road->seconds, 0.01 * road->seconds);
}

// Where nothing moves, what is held is what the device program holds, but for the order, which the
// road chooses so that less is live.
TEST_F(Road, WholeValuesTakeTheMemoryThatIsForeseen) {
  auto run = runOn(R"({"alpha": 1e-6, "beta": 5e9, "flops": 2e10, "memory": 1e10})", kStep);
  ASSERT_TRUE(run->isValid());
  Assignment whole = knownPlans(run->data(), run->mesh()).front().values;
  std::optional<RoadRun::Step> road = run->step(whole);
  ASSERT_TRUE(road);
  EXPECT_NEAR(run->modelPeak(whole), road->peakBytes, 0.06 * road->peakBytes);
}

// An attention is one kernel, which holds no scores: so it is for the search.
TEST_F(Road, AttentionHoldsNoScores) {
  auto run = runOn(R"({"alpha": 1e-6, "beta": 5e9, "flops": 2e10, "memory": 1e10})", kAttention);
  ASSERT_TRUE(run->isValid());
  Assignment whole = knownPlans(run->data(), run->mesh()).front().values;
  std::optional<RoadRun::Step> road = run->step(whole);
  ASSERT_TRUE(road);
  EXPECT_LT(run->modelPeak(whole), 4 * 4 * 512 * 32 * 4 * 1.1);
  EXPECT_NEAR(run->modelPeak(whole), road->peakBytes, 0.06 * road->peakBytes);
  EXPECT_NEAR(run->modelSeconds(whole), road->seconds, 0.1 * road->seconds);
}

} // namespace
} // namespace tessera::plan
