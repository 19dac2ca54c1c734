#include "passes/codegen/cpu/Passes.h"

#include "mlir/Pass/PassRegistry.h"

namespace tessera {

void buildCodegenCpuPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createCodegenCpu());
  pm.addPass(createVerifyCodegen());
}

#define GEN_PASS_REGISTRATION
#include "passes/codegen/cpu/Passes.h.inc"

void registerCodegenCpuPasses() {
  registerCodegenCpuPhasePasses();
  mlir::PassPipelineRegistration<>("tessera-codegen", "Compiles the kernels to native code",
                                   buildCodegenCpuPipeline);
}

} // namespace tessera
