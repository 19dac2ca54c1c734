// The passes of the codegen phase for CPUs.
include "mlir/Pass/PassBase.td"

def CodegenCpu : Pass<"tessera-codegen-cpu", "::mlir::ModuleOp"> {
  let summary = "Compiles every kernel to native code for the module's exec.target_cpu (this machine's processor, when there is none), as one shared object in the module.";
  let description = [{
    ```mlir
    exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> { .. }
    ```
    becomes, with the code of all kernels as one shared object,
    ```mlir
    module attributes {exec.code = dense_resource<exec_code> : .., exec.target_cpu = "x86-64-v3", exec.target_features = [..]} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {grid = 1 : i64, scratch_bytes = 0 : i64, flops = 8.0 : f64} { .. }
    }
    ```
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}
def VerifyCodegen : Pass<"tessera-verify-codegen", "::mlir::ModuleOp"> {
  let summary = "Checks that every kernel has a grid and the module the shared object with their code.";
  let description = [{
    ```mlir
    exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> { .. }
    ```
    without code in the module, or without `grid`, `scratch_bytes` and `flops`, is refused.
  }];
}
