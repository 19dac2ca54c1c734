// The passes of code generation for CPUs.
#ifndef TESSERA_PASSES_CODEGEN_CPU
#define TESSERA_PASSES_CODEGEN_CPU

include "mlir/Pass/PassBase.td"

def CodegenCpu : Pass<"tessera-codegen-cpu", "::mlir::ModuleOp"> {
  let summary = "Compiles every kernel to native code for the processor of the module's target (this machine's, when it has none), as one shared object in the module.";
  let description = [{
    ```mlir
    module attributes {tessera.target = #tessera.target<cpu, <"x86-64-v3", vector_bits = 256, features = ["avx2"]>>} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> { .. }
    }
    ```
    becomes, with the code of all kernels as one shared object,
    ```mlir
    module attributes {tessera.target = ..} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {grid = 1 : i64, scratch_bytes = 0 : i64, flops = 8.0 : f64} { .. }
      exec.image "cpu" for "x86-64-v3" ["avx2", "fma"] dense_resource<exec_code> : ..
    }
    ```
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::TesseraDialect"];
}

#endif
