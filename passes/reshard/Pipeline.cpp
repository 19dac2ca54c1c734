#include "passes/reshard/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassRegistry.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/reshard/Passes.h.inc"

void buildReshardPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createUnifyMeshes());
  pm.addPass(createSplitReductions());
  pm.addPass(createSelectFirstRows());
  pm.addPass(createDistributeSorts());
  pm.addPass(createDistributeFfts());
  pm.addPass(createInsertReshards());
  pm.addPass(createDeferReductions());
  pm.addPass(createReshardBeforeBroadcasts());
  pm.addPass(createVerifyReshard());
}

void registerReshardPasses() {
  registerReshardPhasePasses();
  mlir::PassPipelineRegistration<>("tessera-reshard",
                                   "Makes every change of sharding between operations explicit",
                                   buildReshardPipeline);
}

} // namespace tessera
