// Extends the annotations to all values: the module becomes a graph of plain data, lib/sharding
// decides, and the result is written back. Dimensions stay open where they were;
// tessera-settle-shardings closes them.
//
//   func @main(%x : .. {sdy.sharding = <@mesh, [{"a"}, {?}]>}, %w) {
//     %0 = dot_general %x, %w ..
// becomes
//     %0 = dot_general %x, %w .. {sdy.sharding = [<@mesh, [{"a", ?}, {?}]>]}
//
// Where the predicted time of an op decided a conflict, the program is propagated once more with
// the larger tensor deciding, as Shardy does, and both are resharded on a copy: what is best for an
// op is kept only where it is no worse for the program, in time and in bytes.
#include "lib/cost/TopologyAttr.h"
#include "passes/propagate/ModuleGraph.h"
#include "passes/propagate/Origins.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Movement.h"
#include "passes/reshard/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace tessera {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

// What the program's reshards would move with the values sharded so; none where that can't be said.
std::optional<Movement> movementWith(const std::vector<sharding::PropagatedValue> &values,
                                     ModuleOp original) {
  OwningOpRef<ModuleOp> trial = original.clone();
  ModuleGraph graph(*trial);
  graph.graph.values = values; // numbers follow the program's order
  graph.writeBack();
  ScopedDiagnosticHandler quiet(original.getContext(), [](Diagnostic &) { return success(); });
  PassManager passes(original.getContext());
  passes.enableVerifier(false); // the phases verify themselves
  passes.addPass(createSettleShardings());
  passes.addPass(createMergeConstants());
  buildReshardPipeline(passes);
  if (failed(passes.run(*trial)))
    return std::nullopt;
  return movementOf(*trial);
}

bool sameShardings(const sharding::PropagationGraph &a, const sharding::PropagationGraph &b) {
  return llvm::equal(a.values, b.values, [](const auto &x, const auto &y) {
    return llvm::equal(x.sharding.dims, y.sharding.dims,
                       [](const auto &p, const auto &q) { return p.axes == q.axes; });
  });
}

// Whether one takes no longer, and sends no more bytes.
bool isBetter(const std::optional<Movement> &one, const std::optional<Movement> &other) {
  return one && (!other || (one->seconds <= other->seconds && one->wireBytes <= other->wireBytes));
}

struct PropagateShardings : impl::PropagateShardingsBase<PropagateShardings> {
  using impl::PropagateShardingsBase<PropagateShardings>::PropagateShardingsBase;

  void runOnOperation() override {
    ModuleGraph module(getOperation());
    bool explain = getOperation()->hasAttr(kExplainAttr);
    module.graph.recordSteps = recordOrigins || explain;
    cost::Topology topology = cost::topologyOf(getOperation());
    if (bySize)
      sharding::propagate(module.graph);
    else
      propagateByCost(module, topology);
    module.writeBack();
    if (module.graph.recordSteps)
      attachOrigins(module, explain ? 6 : 0);
  }

  void propagateByCost(ModuleGraph &module, const cost::Topology &topology) {
    sharding::PropagationGraph larger = module.graph;
    module.decideByCost(topology);
    int64_t decided = 0;
    module.graph.seconds = [&decided, seconds = module.graph.seconds](
                               int32_t op, int32_t mesh,
                               llvm::ArrayRef<sharding::TensorSharding> tensors) {
      ++decided;
      return seconds(op, mesh, tensors);
    };
    sharding::propagate(module.graph);
    module.graph.seconds = nullptr;
    if (!decided)
      return;
    sharding::propagate(larger);
    if (!sameShardings(module.graph, larger) &&
        !isBetter(movementWith(module.graph.values, getOperation()),
                  movementWith(larger.values, getOperation())))
      module.graph = std::move(larger);
  }
};

} // namespace
} // namespace tessera
