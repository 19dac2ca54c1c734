#include "passes/import/Passes.h"
#include "passes/propagate/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/propagate/Passes.h.inc"

void buildPropagatePipeline(mlir::OpPassManager &pm) {
  pm.addPass(createNormalizeShardings());
  pm.addPass(createCheckGroups());
  pm.addPass(createSplitConstants());
  pm.addPass(createApplyConstraints());
  pm.addPass(createPropagateShardings());
  pm.addPass(createFinalizeShardings());
  pm.addPass(createMergeConstants());
  pm.addPass(createVerifyPropagate());
}

void registerPropagatePasses() {
  registerPropagatePhasePasses();
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-propagate", "Give every value a sharding, from the annotations on some.",
      [](mlir::OpPassManager &pm) {
        pm.addPass(createInlineCalls()); // of a program that has not been imported
        buildPropagatePipeline(pm);
      });
}

} // namespace tessera
