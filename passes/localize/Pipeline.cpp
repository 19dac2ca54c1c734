#include "passes/localize/Passes.h"

#include "dialects/comm/CommOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/localize/Passes.h.inc"

void buildLocalizePipeline(mlir::OpPassManager &pm) {
  pm.addPass(createLocalizeProgram());
  pm.addPass(mlir::createCSEPass()); // masks and indices of equal layouts; what the roll pattern
                                     // left unused
  pm.addPass(createVerifyLocalize());
}

void registerLocalizePasses() {
  registerLocalizePhasePasses();
  mlir::PassPipelineRegistration<>(
      "tessera-localize",
      "Turns the program on whole arrays into the program of one device, with collectives",
      buildLocalizePipeline);
}

} // namespace tessera
