#include "passes/codegen/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/gpu/Passes.h"
#include "passes/memory/Passes.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/codegen/Passes.h.inc"

void buildCodegenPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createBoundScratch());
  pm.addPass(createGenerateCode());
  pm.addPass(createPlaceScratch());
  pm.addPass(createVerifyMemory()); // arrays have moved
  pm.addPass(createVerifyCodegen());
}

void registerCodegenPasses() {
  registerCodegenPhasePasses();
  registerCodegenCpuPasses();
  registerCodegenGpuPasses();
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-codegen", "Compiles the kernels to native code for the module's target.",
      buildCodegenPipeline);
}

} // namespace tessera
