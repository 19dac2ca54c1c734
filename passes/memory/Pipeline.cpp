#include "dialects/exec/ExecOps.h"
#include "passes/memory/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"

void buildMemoryPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createFormLoopKernels());
  pm.addPass(createPairDonations());
  pm.addPass(createMarkInplace());
  pm.addPass(createOutlineKernels());
  pm.addPass(createAssignBuffers());
  pm.addPass(createJoinDispatches());
  pm.addPass(createVerifyMemory());
}

void registerMemoryPasses() {
  registerMemoryPhasePasses();
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-memory",
      "Give every value a place in memory: the program becomes instructions on buffers.",
      buildMemoryPipeline);
}

} // namespace tessera
