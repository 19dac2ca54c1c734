// RUN: tessera-opt %s --tessera-split-narrow-sums | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<8x192xbf16>) -> tensor<8x6x32xbf16>
// CHECK: %[[B:.*]] = stablehlo.reduce(%[[R]] {{.*}} dimensions = [2] : {{.*}} -> tensor<8x6xbf16>
// CHECK: stablehlo.reduce(%[[B]] {{.*}} dimensions = [1] : {{.*}} -> tensor<8xbf16>
func.func @rows(%x: tensor<8x192xbf16>) -> tensor<8xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x192xbf16>, tensor<bf16>) -> tensor<8xbf16>
  return %s : tensor<8xbf16>
}

// A short dimension is part of every block; a ragged one gets zeros before and after.
// CHECK-LABEL: func.func @columns
// CHECK: stablehlo.pad %arg0, %{{.*}}, low = [0, 14, 0], high = [0, 14, 0]
// CHECK: stablehlo.reshape %{{.*}} -> tensor<2x4x32x5xf16>
// CHECK: stablehlo.reduce({{.*}} dimensions = [0, 2] : {{.*}} -> tensor<4x5xf16>
// CHECK: stablehlo.reduce({{.*}} dimensions = [0] : {{.*}} -> tensor<5xf16>
func.func @columns(%x: tensor<2x100x5xf16>) -> tensor<5xf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<f16>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x100x5xf16>, tensor<f16>) -> tensor<5xf16>
  return %s : tensor<5xf16>
}

// More than 32 blocks are blocks of blocks.
// CHECK-LABEL: func.func @long
// CHECK-COUNT-3: stablehlo.reduce(
// CHECK-NOT: stablehlo.reduce(
func.func @long(%x: tensor<2048xbf16>) -> tensor<bf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2048xbf16>, tensor<bf16>) -> tensor<bf16>
  return %s : tensor<bf16>
}

// f32 has bits enough, and a maximum does not round.
// CHECK-LABEL: func.func @others
// CHECK-NOT: reshape
func.func @others(%x: tensor<8x192xf32>, %y: tensor<8x192xbf16>) -> (tensor<8xf32>, tensor<8xbf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x192xf32>, tensor<f32>) -> tensor<8xf32>
  %m = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x192xbf16>, tensor<bf16>) -> tensor<8xbf16>
  return %s, %m : tensor<8xf32>, tensor<8xbf16>
}
