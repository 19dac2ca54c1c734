#include "passes/package/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/package/Passes.h.inc"

void buildPackagePipeline(mlir::OpPassManager &pm) { pm.addPass(createVerifyPackage()); }

void registerPackagePasses() {
  registerPackagePhasePasses();
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-package", "Check that the device program is complete and can be written out.",
      buildPackagePipeline);
}

} // namespace tessera
