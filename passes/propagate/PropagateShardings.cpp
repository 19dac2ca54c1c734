// Extends the annotations to all values: the module becomes a graph of plain data, lib/sharding
// decides, and the result is written back. Dimensions stay open where they were;
// tessera-settle-shardings closes them.
//
//   func @main(%x : .. {sdy.sharding = <@mesh, [{"a"}, {?}]>}, %w) {
//     %0 = dot_general %x, %w ..
// becomes
//     %0 = dot_general %x, %w .. {sdy.sharding = [<@mesh, [{"a", ?}, {?}]>]}
#include "lib/cost/TopologyAttr.h"
#include "passes/propagate/ModuleGraph.h"
#include "passes/propagate/Origins.h"
#include "passes/propagate/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

struct PropagateShardings : impl::PropagateShardingsBase<PropagateShardings> {
  using impl::PropagateShardingsBase<PropagateShardings>::PropagateShardingsBase;

  void runOnOperation() override {
    ModuleGraph module(getOperation());
    cost::Topology topology = cost::topologyOf(getOperation());
    module.decideByCost(topology);
    bool explain = getOperation()->hasAttr(kExplainAttr);
    module.graph.recordSteps = recordOrigins || explain;
    sharding::propagate(module.graph);
    module.writeBack();
    if (module.graph.recordSteps)
      attachOrigins(module, explain ? 6 : 0);
  }
};

} // namespace
} // namespace tessera
