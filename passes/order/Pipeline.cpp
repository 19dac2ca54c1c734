#include "dialects/comm/CommOps.h"
#include "passes/order/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/order/Passes.h.inc"

void buildOrderPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createOverlapCollectives());
  pm.addPass(createVerifyOrder());
}

void registerOrderPasses() {
  registerOrderPhasePasses();
  static mlir::PassPipelineRegistration<> pipeline(
      "tessera-order", "Fix one order of kernels and collectives that overlaps the two.",
      buildOrderPipeline);
}

} // namespace tessera
