// RUN: tessera-opt %s --tessera-mark-row-differences | FileCheck %s

// CHECK-LABEL: func.func @softmax_gradient
// CHECK: stablehlo.add {{.*}}tessera.uncontracted
func.func @softmax_gradient(%x: tensor<8x65536xf32>, %y: tensor<8x65536xf32>, %t: tensor<8x65536xf32>) -> tensor<8x65536xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x65536xf32>, tensor<f32>) -> tensor<8xf32>
  %n = stablehlo.negate %r : tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<8xf32>) -> tensor<8x65536xf32>
  %p = stablehlo.multiply %x, %y : tensor<8x65536xf32>
  %d = stablehlo.add %p, %b : tensor<8x65536xf32>
  return %d : tensor<8x65536xf32>
}

// Other sums of products stay fused multiply-adds.
// CHECK-LABEL: func.func @other
// CHECK-NOT: tessera.uncontracted
func.func @other(%x: tensor<8x65536xf32>, %y: tensor<8x65536xf32>, %n: tensor<8xf32>) -> tensor<8x65536xf32> {
  %b = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<8xf32>) -> tensor<8x65536xf32>
  %p = stablehlo.multiply %x, %y : tensor<8x65536xf32>
  %d = stablehlo.add %p, %b : tensor<8x65536xf32>
  return %d : tensor<8x65536xf32>
}

// CHECK-LABEL: func.func @small
// CHECK-NOT: tessera.uncontracted
func.func @small(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %p = stablehlo.multiply %x, %y : tensor<8x4xf32>
  %d = stablehlo.add %p, %b : tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}
