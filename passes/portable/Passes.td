#ifndef TESSERA_PASSES_PORTABLE
#define TESSERA_PASSES_PORTABLE
include "mlir/Pass/PassBase.td"

def VhloToStablehlo : Pass<"tessera-vhlo-to-stablehlo", "mlir::ModuleOp"> {
  let summary = "Turns the operations of a portable artifact, of whatever release, into StableHLO's of today.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect", "::mlir::func::FuncDialect"];
}
def StablehloToVhlo : Pass<"tessera-stablehlo-to-vhlo", "mlir::ModuleOp"> {
  let summary = "Writes a program in the operations that a release of StableHLO reads, or says which of them it lacks.";
  let dependentDialects = ["::tessera::vhlo::VhloDialect"];
  let options = [Option<"version", "version", "std::string", "\"current\"", "The release, such as 1.13.0.">];
}
#endif
