// The package phase: the program as the runtime reads it.
#ifndef TESSERA_PASSES_PACKAGE
#define TESSERA_PASSES_PACKAGE

include "mlir/Pass/PassBase.td"

def VerifyPackage : Pass<"tessera-verify-package", "::mlir::ModuleOp"> {
  let summary = "Check that the program can be written as a .tsr: one program, compiled kernels, axes that the mesh has.";
}

#endif
