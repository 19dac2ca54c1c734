#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"

void buildBeforeRematerialize(mlir::OpPassManager &pm) {
  pm.addPass(createExpandSlices());
  pm.addPass(createIfToCase());
  pm.addPass(createForwardInvariants());
  pm.addPass(createExplicitLayouts());
  pm.addPass(createSelectUpdates());
  pm.addPass(createSimplifyUpdates());
  pm.addPass(createSumSelected());
  pm.addPass(createSplitComplexProducts());
  pm.addPass(createGatherFirst());
  pm.addPass(createSimplifyShapes());
  pm.addPass(createSignsOfMaxima());
  pm.addPass(createComputeGathered());
  pm.addPass(createFormTransfers());
  pm.addPass(createSplitConcatenates());
  pm.addPass(createSplitVariadics());
  pm.addPass(createSimplifySorts());
  pm.addPass(createDropFunctionStacks());
  pm.addPass(createDropScoreStacks());
}

void buildAfterRematerialize(mlir::OpPassManager &pm) {
  pm.addPass(createCopyCheap());
  pm.addPass(createFormAttention());
  pm.addPass(createFormGroupedProducts());
  pm.addPass(createSplitColumnSums());
  pm.addPass(createSplitWholeSums());
  pm.addPass(createFormFirstRows());
  pm.addPass(createFormKernels());
  pm.addPass(createReduceTogether());
  pm.addPass(createSizeScratch());
  pm.addPass(createVerifyFuse());
}

void buildFusePipeline(mlir::OpPassManager &pm) {
  buildBeforeRematerialize(pm);
  pm.addPass(createRematerialize());
  buildAfterRematerialize(pm);
}

void registerFusePasses() {
  registerFusePhasePasses();
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-fuse", "Group the ops of a local program into kernels.", buildFusePipeline);
}

} // namespace tessera
