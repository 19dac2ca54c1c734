#ifndef TESSERA_LOCALIZE_PASSES
#define TESSERA_LOCALIZE_PASSES

include "mlir/Pass/PassBase.td"

def LocalizeProgram : Pass<"tessera-localize-program", "::mlir::ModuleOp"> {
  let summary = "Rewrites a program on whole arrays into the program that each device runs on its own parts";
  let dependentDialects = ["::tessera::comm::CommDialect", "::tessera::stablehlo::StablehloDialect"];
}

def VerifyLocalize : Pass<"tessera-verify-localize", "::mlir::ModuleOp"> {
  let summary = "Refuses a program that still speaks of shardings or of whole arrays after localize";
}

def CommToStablehlo : Pass<"tessera-comm-to-stablehlo", "::mlir::ModuleOp"> {
  let summary = "For tests: turns collectives by mesh axes into StableHLO's, by lists of replicas, so that other compilers can run a localized program";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}

#endif
