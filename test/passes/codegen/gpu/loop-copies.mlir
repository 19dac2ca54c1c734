// Loops whose copies would never run, or spare nothing, say so to ptxas; short ones don't.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s

// Up to 16 rows of 48 fours are filled by 256 threads, three each; the sums of a row are a short loop of unknown length.
// CHECK: .visible .entry filled(
// CHECK: $L__BB0_{{[0-9]+}}:
// CHECK-NEXT: .pragma "nounroll";
// CHECK: ld.global.v4.b32
// CHECK: bar.sync
// CHECK: $L__BB0_{{[0-9]+}}:
// CHECK-NOT: .pragma
// CHECK: ld.shared.b32
exec.kernel @filled(%x: tensor<90x192xf32>) -> tensor<90x192xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<90x192xf32>, tensor<f32>) -> tensor<90xf32>
  %wide = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<90xf32>) -> tensor<90x192xf32>
  %0 = stablehlo.subtract %x, %wide : tensor<90x192xf32>
  exec.yield %0 : tensor<90x192xf32>
}

// 64 parts of a sum: eight terms of eight nodes. The terms' loop is written out, so that the nodes' is an innermost one.
// CHECK: .visible .entry nodes(
// CHECK: bar.sync
// CHECK: .pragma "nounroll";
// CHECK-NOT: .pragma
// CHECK: ld.shared.b32
// CHECK-NOT: .pragma
// CHECK: bar.sync
exec.kernel @nodes(%x: tensor<2x8x32x32xf32>) -> tensor<2x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x8x32x32xf32>, tensor<f32>) -> tensor<2x32xf32>
  exec.yield %sum : tensor<2x32xf32>
}

// 256 rows of 64, sixteen in each block: there is no last block that has fewer, so that nothing is a loop but a row's sums.
// Of 250 rows the last block has ten.
// CHECK: .visible .entry even(
// CHECK-NOT: min.s32
// CHECK: ld.global.v4.b32
// CHECK-NOT: bra
// CHECK: bar.sync
// CHECK: .visible .entry uneven(
// CHECK: min.s32
exec.kernel @even(%x: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x64xf32>, tensor<f32>) -> tensor<256xf32>
  %wide = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<256xf32>) -> tensor<256x64xf32>
  %0 = stablehlo.subtract %x, %wide : tensor<256x64xf32>
  exec.yield %0 : tensor<256x64xf32>
}
exec.kernel @uneven(%x: tensor<250x64xf32>) -> tensor<250x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<250x64xf32>, tensor<f32>) -> tensor<250xf32>
  %wide = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<250xf32>) -> tensor<250x64xf32>
  %0 = stablehlo.subtract %x, %wide : tensor<250x64xf32>
  exec.yield %0 : tensor<250x64xf32>
}
