// The passes of the codegen phase for CPUs.
include "mlir/Pass/PassBase.td"

def CodegenCpu : Pass<"tessera-codegen-cpu", "::mlir::ModuleOp"> {
  let summary = "Compiles every kernel to native code for the module's exec.target_cpu (this machine's processor, when there is none), as one shared object in the module";
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}
def VerifyCodegen : Pass<"tessera-verify-codegen", "::mlir::ModuleOp"> {
  let summary = "Checks that every kernel has a grid and the module the shared object with their code";
}
