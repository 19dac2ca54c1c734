// What a plan's reshards cost in the search's model, beside what resharding makes of the program.
#include "compiler/Registration.h"
#include "compiler/TopologyFile.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "lib/plan/KnownPlans.h"
#include "lib/plan/Search.h"
#include "passes/plan/PlanProgram.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Movement.h"
#include "passes/reshard/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

using namespace mlir;

// A step of two layers: products, an elementwise function between, a gradient of each weight.
constexpr const char *kStep = R"(
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%x: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>},
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

// What reshards take where all values are sharded so.
double roadSeconds(ModuleOp module, const Assignment &assignment) {
  OwningOpRef<ModuleOp> trial = module.clone();
  PassManager before(module.getContext());
  before.addPass(createNormalizeShardings());
  before.addPass(createSplitConstants());
  before.addPass(createApplyConstraints());
  EXPECT_TRUE(succeeded(before.run(*trial)));
  ModuleGraph graph(*trial);
  EXPECT_EQ(graph.graph.values.size(), assignment.size());
  for (size_t v = 0; v < assignment.size(); ++v) {
    graph.graph.values[v].sharding = assignment[v];
    graph.graph.values[v].mesh = 0;
  }
  graph.writeBack();
  PassManager passes(module.getContext());
  passes.addPass(createFinalizeShardings());
  passes.addPass(createMergeConstants());
  buildReshardPipeline(passes);
  EXPECT_TRUE(succeeded(passes.run(*trial)));
  return movementOf(*trial).seconds;
}

TEST(Road, KnownPlansMoveAsModelled) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(kStep, &context);
  ASSERT_TRUE(module);
  // A device that computes in no time, so that only what moves counts, for the road's decisions too.
  auto machine = parseTopologyFile(
      module->getLoc(), R"({"alpha": 1e-6, "beta": 5e9, "flops": 1e30, "memory": 1e30})");
  ASSERT_TRUE(machine && *machine);
  setTopology(*module, *machine);
  cost::Topology topology = topologyOf(*module);
  PlanProgram program(*module);
  ASSERT_TRUE(program.isValid() && program.annotatedMesh());
  const sharding::Mesh &mesh = *program.annotatedMesh();
  std::vector<NamedAssignment> plans = knownPlans(program.program, mesh);
  plans.push_back({"found", planOnMesh(program.program, mesh, topology, {}).values});
  ASSERT_GT(plans.size(), 3u);
  for (const NamedAssignment &plan : plans) {
    double model = assignmentSeconds(program.program, mesh, topology, plan.values);
    double road = roadSeconds(*module, plan.values);
    EXPECT_NEAR(model, road, 0.02 * road + 1e-9) << plan.kind;
  }
}

} // namespace
} // namespace tessera::plan
