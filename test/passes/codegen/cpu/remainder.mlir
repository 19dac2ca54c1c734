// Remainders of f32, and of what is computed in it, go by vectors, in f64; those of f64 are the C library's.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @remainders
// CHECK-NOT: @fmodf
// CHECK: fdiv <{{.*}} x double>
// CHECK-NOT: @fmodf
// CHECK: call double @fmod(
// CHECK-NOT: @fmodf
exec.kernel @remainders(%x: tensor<64xf32>, %y: tensor<64xf32>, %u: tensor<64xf64>, %v: tensor<64xf64>) -> (tensor<64xf32>, tensor<64xf64>) {
  %0 = stablehlo.remainder %x, %y : tensor<64xf32>
  %1 = stablehlo.remainder %u, %v : tensor<64xf64>
  exec.yield %0, %1 : tensor<64xf32>, tensor<64xf64>
}
