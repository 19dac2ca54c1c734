// The package phase: the program as the runtime reads it.
#ifndef TESSERA_PASSES_PACKAGE
#define TESSERA_PASSES_PACKAGE

include "mlir/Pass/PassBase.td"

def VerifyPackage : Pass<"tessera-verify-package", "::mlir::ModuleOp"> {
  let summary = "Checks that the program can be written as a .tsr: one program, compiled kernels, axes that the mesh has.";
  let description = [{
    ```mlir
    module {
      exec.program @main ..
      exec.program @other ..
    }
    ```
    is refused: the module holds one program, and all of it can be written as a `.tsr`: kernels have code, and groups name axes that the mesh has.
  }];
}

#endif
