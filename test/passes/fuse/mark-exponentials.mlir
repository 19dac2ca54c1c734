// RUN: tessera-opt %s --tessera-mark-exponentials | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK: stablehlo.exponential {{.*}}tessera.nonpositive
func.func @softmax(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %d = stablehlo.subtract %x, %b : tensor<8x4xf32>
  %e = stablehlo.exponential %d : tensor<8x4xf32>
  return %e : tensor<8x4xf32>
}

// The maximum of another array bounds nothing.
// CHECK-LABEL: func.func @other
// CHECK-NOT: tessera.nonpositive
func.func @other(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %d = stablehlo.subtract %x, %b : tensor<8x4xf32>
  %e = stablehlo.exponential %d : tensor<8x4xf32>
  return %e : tensor<8x4xf32>
}

// Nor does the maximum of another row.
// CHECK-LABEL: func.func @across
// CHECK-NOT: tessera.nonpositive
func.func @across(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x4xf32>
  %e = stablehlo.exponential %d : tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}
