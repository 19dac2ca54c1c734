#include "passes/import/Passes.h"
#include "passes/propagate/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/propagate/Passes.h.inc"

static void addPasses(mlir::OpPassManager &pm, bool isImported) {
  pm.addPass(createNormalizeShardings());
  pm.addPass(createSplitConstants());
  pm.addPass(createApplyConstraints());
  pm.addPass(createCheckGroups());
  pm.addPass(createPropagateShardings());
  pm.addPass(createFinalizeShardings());
  pm.addPass(createMergeConstants());
  pm.addPass(createVerifyPropagate({.withForeignAttributes = !isImported}));
}

void buildPropagatePipeline(mlir::OpPassManager &pm) { addPasses(pm, /*isImported=*/true); }

void registerPropagatePasses() {
  registerPropagatePhasePasses();
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-propagate", "Give every value a sharding, from the annotations on some.",
      [](mlir::OpPassManager &pm) { // of a program that need not have been imported
        pm.addPass(createInlineCalls());
        addPasses(pm, /*isImported=*/false);
      });
}

} // namespace tessera
