// A vector times a slice of an array that begins where data says goes by vectors, as one times a whole array does.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @product
// CHECK: load <{{16|32}} x float>
// CHECK: fmul <{{16|32}} x float>
exec.kernel @product(%i: tensor<i32>, %x: tensor<64xf32>, %w: tensor<4x64x32xf32>) -> tensor<32xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.dynamic_slice %w, %i, %z, %z, sizes = [1, 64, 32] : (tensor<4x64x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x32xf32>
  %m = stablehlo.reshape %s : (tensor<1x64x32xf32>) -> tensor<64x32xf32>
  %0 = stablehlo.dot_general %x, %m, contracting_dims = [0] x [0] : (tensor<64xf32>, tensor<64x32xf32>) -> tensor<32xf32>
  exec.yield %0 : tensor<32xf32>
}
