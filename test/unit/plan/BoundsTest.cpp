// What the search proves of all plans of a mesh, beside plans that people know and random ones: none is counted
// below it, and none is compiled to less.
#include "compiler/Phases.h"
#include "dialects/sdy/PlainData.h"
#include "lib/plan/KnownPlans.h"
#include "lib/plan/Launches.h"
#include "lib/plan/Meshes.h"
#include "lib/plan/Search.h"
#include "passes/plan/Annotations.h"

#include "RandomPlans.h"
#include "RoadFixture.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::plan {
namespace {

using namespace mlir;

// Launches and latencies are most of a step: what is gathered and summed hides behind kernels that start.
constexpr const char *kSmallStepsMachine =
    R"({"alpha": 3e-6, "beta": 4.5e11, "flops": 6.7e13, "memory": 3.35e12,
    "launch": 2e-6, "processors": 132})";
// Bytes on links and computing are.
constexpr const char *kSlowLinksMachine =
    R"({"alpha": 1e-6, "beta": 5e8, "flops": 1e10, "memory": 1e10})";

// A step of so many layers of two products, with gradients of their weights.
std::string network(int layers) {
  std::string head, forward, backward, results, types;
  auto add = [](std::string &to, const char *form, auto... each) {
    to += llvm::formatv(form, each...).str();
  };
  const char *x = "tensor<128x384xf32>", *h = "tensor<128x1536xf32>", *v = "tensor<384x1536xf32>",
             *w = "tensor<1536x384xf32>";
  for (int i = 0; i < layers; ++i) {
    add(head, ", %v{0}: {1}, %w{0}: {2}", i, v, w);
    add(forward,
        "%h{0} = stablehlo.dot_general %x{0}, %v{0}, contracting_dims = [1] x [0] : ({1}, {2}) -> "
        "{3}\n",
        i, x, v, h);
    add(forward, "%t{0} = stablehlo.tanh %h{0} : {1}\n", i, h);
    add(forward,
        "%x{0} = stablehlo.dot_general %t{1}, %w{1}, contracting_dims = [1] x [0] : ({2}, {3}) -> "
        "{4}\n",
        i + 1, i, h, w, x);
  }
  add(forward, "%d{0} = stablehlo.subtract %x{0}, %x0 : {1}\n", layers, x);
  for (int i = layers - 1; i >= 0; --i) {
    add(backward,
        "%gw{0} = stablehlo.dot_general %t{0}, %d{1}, contracting_dims = [0] x [0] : ({2}, {3}) -> "
        "{4}\n",
        i, i + 1, h, x, w);
    add(backward,
        "%b{0} = stablehlo.dot_general %d{1}, %w{0}, contracting_dims = [1] x [1] : ({2}, {3}) -> "
        "{4}\n",
        i, i + 1, x, w, h);
    add(backward, "%e{0} = stablehlo.multiply %b{0}, %t{0} : {1}\n", i, h);
    add(backward,
        "%gv{0} = stablehlo.dot_general %x{0}, %e{0}, contracting_dims = [0] x [0] : ({1}, {2}) -> "
        "{3}\n",
        i, x, h, v);
    add(backward,
        "%d{0} = stablehlo.dot_general %e{0}, %v{0}, contracting_dims = [1] x [1] : ({1}, {2}) -> "
        "{3}\n",
        i, h, v, x);
    add(backward,
        "%nv{0} = stablehlo.subtract %v{0}, %gv{0} : {1}\n%nw{0} = stablehlo.subtract %w{0}, "
        "%gw{0} : {2}\n",
        i, v, w);
    add(results, "{0}%nv{1}, %nw{1}", results.empty() ? "" : ", ", i);
    add(types, "{0}{1}, {2}", types.empty() ? "" : ", ", v, w);
  }
  return llvm::formatv(
      "sdy.mesh @mesh = <[\"x\"=8]>\nfunc.func public @main(%x0: {0}{1}) -> ({2}) {{\n{3}{4}"
      "return {5} : {2}\n}\n",
      x, head, types, forward, backward, results);
}

// What its author says of shardings is left out.
void makePlain(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op)) {
      constraint.replaceAllUsesWith(constraint.getInput());
      constraint.erase();
    } else if (auto mesh = dyn_cast<sdy::MeshOp>(op)) {
      mesh.erase();
    } else if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, sdy::kShardingAttr);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.removeResultAttr(i, StringAttr::get(function.getContext(), sdy::kShardingAttr));
    } else {
      op->removeAttr(sdy::kShardingAttr);
    }
  });
}

class Bounds : public Road {
protected:
  // Of known plans and `count` random ones. `joins`: messages that the search counts one by one travel together,
  // so that what first readers wait for is more than a program takes; a report leaves such a bound out.
  void hold(RoadRun &run, int count, bool joins = false) {
    ASSERT_TRUE(run.isValid());
    std::vector<NamedAssignment> plans = knownPlans(run.data(), run.mesh());
    RoadRun::Counts bounds = run.bounds(plans);
    EXPECT_GT(std::min({bounds.all, bounds.hiding, bounds.waiting, bounds.computing}), 0);
    plans.push_back({"found", planOnMesh(run.data(), run.mesh(), run.topology(), {}).values});
    constexpr uint64_t kSeed = 18;
    std::mt19937_64 random(kSeed);
    for (int number = 0; number < count; ++number)
      plans.push_back({"random " + std::to_string(number),
                       randomPlan(run.data(), run.mesh(), random, 0.5, number % 2 * 0.1)});
    double launches = launchSeconds(run.data(), run.topology(), run.mesh().numDevices());
    double least = launches;
    std::vector<double> steps;
    for (const NamedAssignment &plan : plans) {
      SCOPED_TRACE(plan.kind);
      RoadRun::Counts counted = run.counts(plan.values);
      EXPECT_GE(counted.all, bounds.all * (1 - kRounding));
      EXPECT_GE(counted.hiding, bounds.hiding * (1 - kRounding));
      EXPECT_GE(counted.waiting, bounds.waiting * (1 - kRounding));
      EXPECT_GE(counted.computing, bounds.computing * (1 - kRounding));
      std::optional<RoadRun::Step> road = run.step(plan.values, cost::Overlap::Auto);
      ASSERT_TRUE(road);
      least = std::min(least, road->overhead);
      steps.push_back(road->seconds);
    }
    // As in the report: no more launches than any compiled program has.
    for (auto [plan, step] : llvm::zip_equal(plans, steps)) {
      EXPECT_GE(step, bounds.hiding - (launches - least)) << plan.kind;
      if (!joins)
        EXPECT_GE(step, bounds.waiting - (launches - least)) << plan.kind;
      EXPECT_GE(step, bounds.computing - (launches - least)) << plan.kind;
    }
  }

  static constexpr double kRounding = 1e-9;
};

TEST_F(Bounds, HoldWhereLaunchesHideWhatMoves) {
  hold(*runOn(kSmallStepsMachine, network(4)), 3, /*joins=*/true);
}

TEST_F(Bounds, HoldWhereLinksAreSlow) { hold(*runOn(kSlowLinksMachine, network(2)), 3); }

// A transformer's training step, with an optimizer's state.
TEST_F(Bounds, HoldForATransformer) {
  for (const char *machine : {kSmallStepsMachine, kSlowLinksMachine}) {
    module = parseSourceFile<ModuleOp>(
        TESSERA_SOURCE_DIR "/examples/char_transformer/train_step.mlir", &context);
    ASSERT_TRUE(module);
    makePlain(*module);
    std::string wrong;
    addMesh(*module, *readMesh("x=8", wrong));
    PassManager import(&context);
    findPhase("import")->build(import);
    ASSERT_TRUE(succeeded(import.run(*module)));
    hold(*runOn(machine), 1);
  }
}

} // namespace
} // namespace tessera::plan
