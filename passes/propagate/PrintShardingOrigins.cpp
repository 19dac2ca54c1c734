// Prints for every value that propagation shards where its axes come from. The module stays as it
// is; run it where tessera-propagate-shardings would run. Passes.td shows an example.
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "passes/propagate/Origins.h"
#include "passes/propagate/Passes.h"

#include "llvm/Support/raw_ostream.h"

namespace tessera {
#define GEN_PASS_DEF_PRINTSHARDINGORIGINS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

struct PrintShardingOrigins : impl::PrintShardingOriginsBase<PrintShardingOrigins> {
  void runOnOperation() override {
    ModuleGraph module(getOperation());
    cost::Topology topology = topologyOf(getOperation());
    module.decideByCost(topology);
    module.graph.recordSteps = true;
    sharding::propagate(module.graph);
    Origins origins(module);
    for (int32_t v = 0, e = module.graph.values.size(); v < e; ++v) {
      Value value = module.valueAt(v);
      if (!value)
        continue;
      for (const std::string &line : origins.linesOf(v)) {
        if (auto argument = dyn_cast<BlockArgument>(value))
          llvm::outs() << "argument " << argument.getArgNumber();
        else
          llvm::outs() << value.getLoc() << ": " << value.getDefiningOp()->getName();
        llvm::outs() << ": " << line << "\n";
      }
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tessera
