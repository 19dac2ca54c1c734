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

using Phases = ArrayRef<void (*)(OpPassManager &)>;

// A program that has its shardings, behind `phases`; null where it could not go through them.
static OwningOpRef<ModuleOp> behind(OwningOpRef<ModuleOp> trial, Phases phases) {
  MLIRContext *context = trial->getContext();
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  PassManager passes(context);
  passes.enableVerifier(false); // the phases verify themselves
  passes.addPass(createFinalizeShardings());
  passes.addPass(createMergeConstants());
  for (auto *build : phases)
    build(passes);
  return succeeded(passes.run(*trial)) ? std::move(trial) : OwningOpRef<ModuleOp>();
}

// A copy of the program with the values sharded so, which has gone through `phases`.
static OwningOpRef<ModuleOp> triedWith(PropagatedValues values, ModuleOp original, Phases phases) {
  OwningOpRef<ModuleOp> trial = original.clone();
  ModuleGraph graph(*trial);
  graph.graph.values = values; // numbers follow the program's order
  graph.writeBack();
  return behind(std::move(trial), phases);
}

static std::optional<Movement> movementIn(OwningOpRef<ModuleOp> trial) {
  return trial ? std::optional(movementOf(*trial)) : std::nullopt;
}

std::optional<Movement> reshardsWith(PropagatedValues values, ModuleOp original) {
  return movementIn(triedWith(values, original, buildReshardPipeline));
}

std::optional<Movement> reshardsWith(PropagatedValues values, Surroundings &around) {
  return movementIn(behind(around.sharded(values), buildReshardPipeline));
}

std::optional<double> stepSecondsWith(PropagatedValues values, ModuleOp original) {
  OwningOpRef<ModuleOp> trial =
      triedWith(values, original,
                {buildReshardPipeline, buildLocalizePipeline, buildCommunicatePipeline,
                 buildFusePipeline, buildOrderPipeline, buildMemoryPipeline});
  return trial ? std::optional(predictModule(*trial).time.seconds) : std::nullopt;
}

} // namespace tessera
