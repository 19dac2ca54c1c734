#include "lib/compiler/Phases.h"

#ifdef HAVE_TESSERAIMPORT
#include "passes/import/Passes.h"
#endif
#ifdef HAVE_TESSERAPROPAGATE
#include "passes/propagate/Passes.h"
#endif
#ifdef HAVE_TESSERARESHARD
#include "passes/reshard/Passes.h"
#endif
#ifdef HAVE_TESSERALOCALIZE
#include "passes/localize/Passes.h"
#endif
#ifdef HAVE_TESSERACOMMUNICATE
#include "passes/communicate/Passes.h"
#endif
#ifdef HAVE_TESSERAFUSE
#include "passes/fuse/Passes.h"
#endif
#ifdef HAVE_TESSERAORDER
#include "passes/order/Passes.h"
#endif
#ifdef HAVE_TESSERAMEMORY
#include "passes/memory/Passes.h"
#endif
#ifdef HAVE_TESSERACODEGENCPU
#include "passes/codegen/cpu/Passes.h"
#endif
#ifdef HAVE_TESSERAPACKAGE
#include "passes/package/Passes.h"
#endif

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera {

static const Phase kPhases[] = {
#ifdef HAVE_TESSERAIMPORT
    {"import", buildImportPipeline},
#endif
#ifdef HAVE_TESSERAPROPAGATE
    {"propagate", buildPropagatePipeline},
#endif
#ifdef HAVE_TESSERARESHARD
    {"reshard", buildReshardPipeline},
#endif
#ifdef HAVE_TESSERALOCALIZE
    {"localize", buildLocalizePipeline},
#endif
#ifdef HAVE_TESSERACOMMUNICATE
    {"communicate", buildCommunicatePipeline},
#endif
#ifdef HAVE_TESSERAFUSE
    {"fuse", buildFusePipeline},
#endif
#ifdef HAVE_TESSERAORDER
    {"order", buildOrderPipeline},
#endif
#ifdef HAVE_TESSERAMEMORY
    {"memory", buildMemoryPipeline},
#endif
#ifdef HAVE_TESSERACODEGENCPU
    {"codegen", buildCodegenCpuPipeline},
#endif
#ifdef HAVE_TESSERAPACKAGE
    {"package", buildPackagePipeline},
#endif
    {"", nullptr}, // so that the list is never empty
};

llvm::ArrayRef<Phase> phases() { return llvm::ArrayRef(kPhases).drop_back(); }

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
