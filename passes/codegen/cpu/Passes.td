// The passes of the codegen phase for CPUs.
include "mlir/Pass/PassBase.td"

def CodegenCpu : Pass<"tessera-codegen-cpu", "::mlir::ModuleOp"> {
  let summary = "Compiles every kernel to native code for this machine's processor, as one shared object in the module";
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}
def VerifyCodegen : Pass<"tessera-verify-codegen", "::mlir::ModuleOp"> {
  let summary = "Checks that every kernel has a grid and the module the shared object with their code";
}
