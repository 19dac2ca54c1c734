// The passes of code generation for GPUs.
#ifndef TESSERA_PASSES_CODEGEN_GPU
#define TESSERA_PASSES_CODEGEN_GPU

include "mlir/Pass/PassBase.td"

def CodegenGpu : Pass<"tessera-codegen-gpu", "::mlir::ModuleOp"> {
  let summary = "Compiles every kernel to PTX for the architectures of the module's target, one text for each.";
  let description = [{
    ```mlir
    module attributes {tessera.target = #tessera.target<cuda, <"sm_80", vector_bits = 128, features = ["ptx80"]>>} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> { .. }
    }
    ```
    becomes, with the PTX of all kernels as one text for each architecture, newest first,
    ```mlir
    module attributes {tessera.target = ..} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {grid = 1 : i64, scratch_bytes = 0 : i64, flops = 8.0 : f64} { .. }
      exec.image "cuda" for "sm_80" ["ptx80"] dense_resource<exec_code> : .. {launches = [#exec.launch<threads = 256>]}
    }
    ```
    A cell is a block of `threads` threads. A kernel takes a pointer for each of its arrays: inputs, then outputs, and then the maps of those
    that it copies by boxes. Kernels have the grids of the first architecture, and images of others those of their own. What has no code
    for GPUs yet is refused, with its place (docs/limits.md).
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::TesseraDialect"];
}

#endif
