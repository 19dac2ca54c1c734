// The passes of the codegen phase that are every target's.
#ifndef TESSERA_PASSES_CODEGEN
#define TESSERA_PASSES_CODEGEN

include "mlir/Pass/PassBase.td"

def BoundScratch : Pass<"tessera-bound-scratch", "::mlir::ModuleOp"> {
  let summary = "Has kernels go by smaller pieces where their scratch has no room beside the arrays.";
  let description = [{
    Of a module whose schedule says what temporaries and scratch may take together; fuse has it say so where a program
    fits into its memory in no other way. The phase memory has left when each array is needed:
    ```mlir
    module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 90000, scratch_within = 69632>, ..} {
      exec.kernel @dot_general_0(..) .. // has scratch of 131072 bytes
      exec.program @main arena 65536 .. {
        %0 = exec.buffer arena at 0 : tensor<128x128xf32> {array = array<i64: 0, 65536, 1, 6>}
        exec.dispatch @dot_general_0(%0, %1) -> (%2) time 4
    ```
    becomes
    ```mlir
      exec.kernel @dot_general_0(..) .. attributes {most_scratch = 4096 : i64, scratch_bytes = 4096 : i64}
    ```
    Products have panels of fewer rows and columns; each sum is what it was. What has room keeps its size.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
}

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

def PlaceScratch : Pass<"tessera-place-scratch", "::mlir::ModuleOp"> {
  let summary = "Puts the scratch of kernels into the arena, where nothing is while they run.";
  let description = [{
    What a kernel needs beside arrays, such as panels of a product's operands, is known with its code only. The phase
    memory has left with each array and dispatch when it is needed; arrays and scratch are laid out together:
    ```mlir
    exec.kernel @dot_general_0(..) .. attributes {scratch_bytes = 512 : i64, ..}
    exec.program @main arena 1024 constants 0 inputs [..] outputs [..] {
      %0 = exec.buffer arena at 0 : tensor<128xf32> {array = array<i64: 0, 512, 1, 6>}
      %1 = exec.buffer arena at 512 : tensor<128xf32> {array = array<i64: 512, 512, 5, 10>}
      %2 = exec.buffer arena at 0 : tensor<128xf32> {array = array<i64: 0, 512, 9, 14>}
      ..
      exec.dispatch @dot_general_0(%2) -> (%3) time 12
    }
    ```
    becomes
    ```mlir
    exec.program @main arena 1024 constants 0 inputs [..] outputs [..] {
      ..
      exec.dispatch @dot_general_0(%2) -> (%3) scratch at 512
    }
    ```
    Results that are not written yet, and donated inputs that are read no more, have room for both (`scratch at 512 in
    output 0`). Where arrays by themselves and the largest scratch beside them take no more than that, workers have the
    scratch in memory of their own, as idle workers always do that take a part of a kernel's grid.
  }];
  let dependentDialects = ["::tessera::exec::ExecDialect"];
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
