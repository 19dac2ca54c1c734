// A kernel without code is refused.
// RUN: not tessera-opt %s --tessera-verify-codegen 2>&1 | FileCheck %s

// CHECK: error: kernel 'exp' has no native code: grid, scratch_bytes and flops are missing; run --tessera-codegen
exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = stablehlo.exponential %x : tensor<8xf32>
  exec.yield %e : tensor<8xf32>
}
