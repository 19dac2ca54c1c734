#include "passes/import/Passes.h"

#include "dialects/chlo/ChloOps.h"
#include "dialects/comm/CommOps.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace tessera {

#define GEN_PASS_REGISTRATION
#include "passes/import/Passes.h.inc"

void buildImportPipeline(mlir::OpPassManager &pm, const ImportOptions &options) {
  pm.addPass(createSetTarget({options.target, options.processors}));
  pm.addPass(createStringsToSdy());
  pm.addPass(createDecomposeCustomCalls());
  pm.addPass(createInlineCalls());
  pm.addPass(createRefineShapes());
  pm.addPass(createPairTransfers());
  pm.addPass(createFlattenTuples());
  pm.addPass(createDecomposeQuantized());
  pm.addPass(createTabulateGroups());
  pm.addPass(createGspmdToSdy());
  pm.addPass(createFormManualComputations());
  pm.addPass(createDropConstraints());
  pm.addPass(createLoopOverReduce());
  pm.addPass(createSelectInComputations());
  pm.addPass(createCloseComputations());
  pm.addPass(createWidenConverted()); // before there are conversions that the program didn't write
  pm.addPass(createFormRaggedDot());
  pm.addPass(createDecomposeRaggedDot());
  pm.addPass(createLoopOverScan());
  pm.addPass(createDecomposeChlo());
  pm.addPass(createDecomposeBatchNorm());
  pm.addPass(createNormalizeOperations());
  pm.addPass(createBoundPadding());
  pm.addPass(createWidenExponents());
  pm.addPass(createWidenSums());
  pm.addPass(createFoldEmptyValues());
  pm.addPass(createSeparateStarts());
  pm.addPass(createDecomposeRandom());
  pm.addPass(createLoopOverMap());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createFormRunningReductions());
  pm.addPass(createMarkCountedLoops());
  pm.addPass(createUnrollShortLoops());
  pm.addPass(createWrapDeviceProgram());
  pm.addPass(createRecoverAxes());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createPlaceValues());
  pm.addPass(createDropUnreadAttributes());
  pm.addPass(createVerifyImport());
}

void registerImportPasses() {
  registerImportPhasePasses();
  mlir::PassPipelineRegistration<ImportOptions>(
      "tessera-import",
      "import: one function in StableHLO, sdy and comm from what a frontend exports.",
      buildImportPipeline);
}

} // namespace tessera
