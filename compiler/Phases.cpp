#include "compiler/Phases.h"

#include "passes/codegen/Passes.h"
#include "passes/communicate/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/import/Passes.h"
#include "passes/localize/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/order/Passes.h"
#include "passes/package/Passes.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera {

static const Phase kPhases[] = {
    {"import", [](mlir::OpPassManager &pm) { buildImportPipeline(pm, ImportOptions()); },
     registerImportPasses},
    {"propagate", buildPropagatePipeline, registerPropagatePasses},
    {"reshard", buildReshardPipeline, registerReshardPasses},
    {"localize", buildLocalizePipeline, registerLocalizePasses},
    {"communicate", buildCommunicatePipeline, registerCommunicatePasses},
    {"fuse", buildFusePipeline, registerFusePasses},
    {"order", buildOrderPipeline, registerOrderPasses},
    {"memory", buildMemoryPipeline, registerMemoryPasses},
    {"codegen", buildCodegenPipeline, registerCodegenPasses},
    {"package", buildPackagePipeline, registerPackagePasses},
};

llvm::ArrayRef<Phase> phases() { return kPhases; }

const Phase *findPhase(llvm::StringRef name) {
  const Phase *found =
      llvm::find_if(phases(), [&](const Phase &phase) { return phase.name == name; });
  return found == phases().end() ? nullptr : found;
}

void registerCompilePipeline() {
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-compile",
      "All phases in order: from an annotated program to the device program that runs.",
      [](mlir::OpPassManager &pm) {
        for (const Phase &phase : phases())
          phase.build(pm);
      });
}

} // namespace tessera
