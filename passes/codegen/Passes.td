// The passes of the codegen phase that are every target's.
#ifndef TESSERA_PASSES_CODEGEN
#define TESSERA_PASSES_CODEGEN

include "mlir/Pass/PassBase.td"

def GenerateCode : Pass<"tessera-generate-code", "::mlir::ModuleOp"> {
  let summary = "Compiles every kernel to native code with the pipeline of the module's target.";
  let description = [{
    The target is `tessera.target`; a module without one is for this machine's processor. What kernels get is the same for
    all targets; how their code is made is the target's own, for CPUs `tessera-codegen-cpu`, for GPUs `tessera-codegen-gpu`.
    ```mlir
    module attributes {tessera.target = #tessera.target<shadow, <"x86-64-v3", vector_bits = 256, features = ["avx2"]>>} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> { .. }
    }
    ```
    becomes
    ```mlir
    module attributes {tessera.target = ..} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {grid = 1 : i64, scratch_bytes = 0 : i64, flops = 8.0 : f64} { .. }
      exec.image "shadow" for "x86-64-v3" ["avx2"] dense_resource<exec_code> : ..
    }
    ```
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::TesseraDialect"];
}

def VerifyCodegen : Pass<"tessera-verify-codegen", "::mlir::ModuleOp"> {
  let summary = "Checks that every kernel has a grid, and the module an image of code for each processor of its target.";
  let description = [{
    ```mlir
    exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> { .. }
    ```
    without code in the module, or without `grid`, `scratch_bytes` and `flops`, is refused.
  }];
}

#endif
