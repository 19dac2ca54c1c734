// The passes of code generation for CPUs.
#ifndef TESSERA_PASSES_CODEGEN_CPU
#define TESSERA_PASSES_CODEGEN_CPU

include "mlir/Pass/PassBase.td"

def CodegenCpu : Pass<"tessera-codegen-cpu", "::mlir::ModuleOp"> {
  let summary = "Compiles every kernel to native code for the processors of the module's target (this machine's, when it has none), as one shared object each.";
  let description = [{
    ```mlir
    module attributes {tessera.target = #tessera.target<cpu, <"x86-64-v4", vector_bits = 512, features = [..]>, <"x86-64-v3", vector_bits = 256, features = [..]>>} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> { .. }
    }
    ```
    becomes, with the code of all kernels as one shared object for each processor, best first,
    ```mlir
    module attributes {tessera.target = ..} {
      exec.kernel @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {grid = 1 : i64, scratch_bytes = 0 : i64, flops = 8.0 : f64} { .. }
      exec.image "cpu" for "x86-64-v4" [..] dense_resource<exec_code> : ..
      exec.image "cpu" for "x86-64-v3" [..] dense_resource<exec_code_1> : ..
    }
    ```
    What a kernel needs (cells, scratch) is the most that one of its images needs; cells past those of an image's own do
    nothing. A processor with fewer instruction sets may give other bits (docs/numbers.md).
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect", "::tessera::TesseraDialect"];
}

#endif
