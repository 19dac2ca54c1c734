#ifndef TESSERA_PASSES_IMPORT
#define TESSERA_PASSES_IMPORT
include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"tessera-inline-calls", "mlir::ModuleOp"> {
  let summary = "Puts the bodies of called functions where they are called, until only the entry is left.";
  let dependentDialects = ["::mlir::func::FuncDialect"];
}
def DecomposeChlo : Pass<"tessera-decompose-chlo", "mlir::ModuleOp"> {
  let summary = "Writes functions such as erf, sinh and top_k as arithmetic and sorts of the StableHLO specification.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def DecomposeBatchNorm : Pass<"tessera-decompose-batch-norm", "mlir::ModuleOp"> {
  let summary = "Writes batch normalisation and its gradient as reductions and arithmetic.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def NormalizeOperations : Pass<"tessera-normalize-operations", "mlir::ModuleOp"> {
  let summary = "Writes dot, broadcast, map and shapes known after all by the more general operations that later phases know.";
  let dependentDialects = ["::tessera::stablehlo::StablehloDialect"];
}
def GspmdToSdy : Pass<"tessera-gspmd-to-sdy", "mlir::ModuleOp"> {
  let summary = "Turns the sharding strings of GSPMD into sdy annotations over a mesh that has their axes.";
  let dependentDialects = ["::tessera::sdy::SdyDialect"];
}
def MarkCountedLoops : Pass<"tessera-mark-counted-loops", "mlir::ModuleOp"> {
  let summary = "Marks while loops that count from a constant to a constant with their number of trips.";
}
def RecoverAxes : Pass<"tessera-recover-axes", "mlir::ModuleOp"> {
  let summary = "Finds the mesh axes behind tables of device numbers and arithmetic on partition_id in manual computations.";
  let dependentDialects = ["::tessera::comm::CommDialect", "::tessera::stablehlo::StablehloDialect"];
}
def VerifyImport : Pass<"tessera-verify-import", "mlir::ModuleOp"> {
  let summary = "Checks what import promises: one function, no calls, no chlo, no device numbers.";
}
#endif
