#include "passes/codegen/cpu/Passes.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/codegen/cpu/Passes.h.inc"

void buildCodegenCpuPipeline(mlir::OpPassManager &pm) { pm.addPass(createCodegenCpu()); }

void registerCodegenCpuPasses() { registerCodegenCpuPhasePasses(); }

} // namespace tessera
