// Squares are turned without AVX-512 by instructions that interleave within 16 bytes: halves of rows change places first,
// and no interleaving goes across them, which would be three instructions for one.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll
// RUN: FileCheck %s --input-file=%t.ll --check-prefix=ACROSS

// CHECK: define i32 @running
// CHECK: shufflevector <4 x float> %{{.*}}, <4 x float> %{{.*}}, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
// CHECK-COUNT-16: shufflevector <8 x float> %{{.*}}, <8 x float> %{{.*}}, <8 x i32> <i32 {{0|2}}, i32 {{8|10}}, i32 {{1|3}}, i32 {{9|11}}, i32 {{4|6}}, i32 {{12|14}}, i32 {{5|7}}, i32 {{13|15}}>
// ACROSS-NOT: <i32 0, i32 16, i32 1, i32 17
exec.kernel @running(%x: tensor<4x512xf32>) -> tensor<4x512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [511, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 512>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  exec.yield %0 : tensor<4x512xf32>
}
