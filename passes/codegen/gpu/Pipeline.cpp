#include "passes/codegen/gpu/Passes.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/codegen/gpu/Passes.h.inc"

void buildCodegenGpuPipeline(mlir::OpPassManager &pm) { pm.addPass(createCodegenGpu()); }

void registerCodegenGpuPasses() { registerCodegenGpuPhasePasses(); }

} // namespace tessera
