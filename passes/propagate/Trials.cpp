#include "passes/propagate/Trials.h"

#include "mlir/Pass/PassManager.h"
#include "passes/communicate/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/localize/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/order/Passes.h"
#include "passes/package/StepWork.h"
#include "passes/propagate/ModuleGraph.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Passes.h"

namespace tessera {

using namespace mlir;

// A copy of the program with the values sharded so, which has gone through `phases`; null where it could not.
static OwningOpRef<ModuleOp> triedWith(PropagatedValues values, ModuleOp original,
                                       ArrayRef<void (*)(OpPassManager &)> phases) {
  OwningOpRef<ModuleOp> trial = original.clone();
  ModuleGraph graph(*trial);
  graph.graph.values = values; // numbers follow the program's order
  graph.writeBack();
  ScopedDiagnosticHandler quiet(original.getContext(), [](Diagnostic &) { return success(); });
  PassManager passes(original.getContext());
  passes.enableVerifier(false); // the phases verify themselves
  passes.addPass(createFinalizeShardings());
  passes.addPass(createMergeConstants());
  for (auto *build : phases)
    build(passes);
  return succeeded(passes.run(*trial)) ? std::move(trial) : OwningOpRef<ModuleOp>();
}

std::optional<Movement> reshardsWith(PropagatedValues values, ModuleOp original) {
  OwningOpRef<ModuleOp> trial = triedWith(values, original, buildReshardPipeline);
  return trial ? std::optional(movementOf(*trial)) : std::nullopt;
}

std::optional<double> stepSecondsWith(PropagatedValues values, ModuleOp original) {
  OwningOpRef<ModuleOp> trial =
      triedWith(values, original,
                {buildReshardPipeline, buildLocalizePipeline, buildCommunicatePipeline,
                 buildFusePipeline, buildOrderPipeline, buildMemoryPipeline});
  return trial ? std::optional(predictModule(*trial).time.seconds) : std::nullopt;
}

} // namespace tessera
