#include "passes/communicate/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/communicate/Passes.h.inc"

void buildCommunicatePipeline(mlir::OpPassManager &pm) {
  pm.addPass(createMergeReductions());
  pm.addPass(createNarrowCollectives());
  pm.addPass(createFoldCollectives());
  pm.addPass(createHoistCollectives());
  pm.addPass(mlir::createCSEPass()); // equal collectives of equal operands are one
  pm.addPass(createReduceInLoops());
  pm.addPass(createBucketCollectives());
  pm.addPass(createRingProducts());
  pm.addPass(createCarryInParts());
  pm.addPass(createVerifyCommunicate());
}

void registerCommunicatePasses() {
  registerCommunicatePhasePasses();
  mlir::PassPipelineRegistration<>("tessera-communicate",
                                   "Makes collectives fewer, smaller and earlier",
                                   buildCommunicatePipeline);
}

} // namespace tessera
