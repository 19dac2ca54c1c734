// Results of 16 MiB and more go past the caches, what their kernel has of each row beside them or not: one number a row is stored
// as ever, and so are smaller results.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/large.ll tessera-opt %t/large.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/large.out
// RUN: FileCheck %s --input-file=%t/large.ll --check-prefix=LARGE
// RUN: env TESSERA_DUMP_LLVM=%t/small.ll tessera-opt %t/small.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/small.out
// RUN: FileCheck %s --input-file=%t/small.ll --check-prefix=SMALL

//--- large.mlir
// LARGE: define i32 @large
// LARGE: store float %{{.*}}, ptr %{{[^!]*$}}
// LARGE: store <64 x float> {{.*}}, !nontemporal
exec.kernel @large(%x: tensor<2048x2048xf32>) -> (tensor<2048xf32>, tensor<2048x2048xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<2048xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2048xf32>) -> tensor<2048x2048xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2048x2048xf32>
  exec.yield %0, %2 : tensor<2048xf32>, tensor<2048x2048xf32>
}

//--- small.mlir
// SMALL: define i32 @small
// SMALL-NOT: !nontemporal
exec.kernel @small(%x: tensor<1024x2048xf32>) -> (tensor<1024xf32>, tensor<1024x2048xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x2048xf32>, tensor<f32>) -> tensor<1024xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1024xf32>) -> tensor<1024x2048xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<1024x2048xf32>
  exec.yield %0, %2 : tensor<1024xf32>, tensor<1024x2048xf32>
}
