// RUN: tessera-opt %s --tessera-round-clusters | FileCheck %s

// The softmax of bf16 numbers and its product with a matrix: no rounding within, and none of what
// is only moved before it is multiplied on.

// CHECK-LABEL: func.func @attention
// CHECK:         %[[E:.*]] = stablehlo.exponential %{{.*}} : tensor<8x8x64x64xf32>
// CHECK:         %[[S:.*]] = stablehlo.reduce(%[[E]]
// CHECK:         %[[P:.*]] = stablehlo.multiply %[[E]], %{{.*}} : tensor<8x8x64x64xf32>
// CHECK:         %[[V:.*]] = stablehlo.convert %arg1
// CHECK:         %[[D:.*]] = stablehlo.dot_general %[[P]], %[[V]], {{.*}} -> tensor<8x8x64x16xf32>
// CHECK:         %[[T:.*]] = stablehlo.transpose %[[D]]
// CHECK:         %[[W:.*]] = stablehlo.convert %arg2
// CHECK:         %[[O:.*]] = stablehlo.dot_general %[[T]], %[[W]], {{.*}} -> tensor<8x64x128xf32>
// CHECK:         %[[R:.*]] = stablehlo.convert %[[O]] : (tensor<8x64x128xf32>) -> tensor<8x64x128xbf16>
// CHECK:         return %[[R]]
func.func @attention(%x: tensor<8x8x64x64xf32>, %v: tensor<8x8x64x16xbf16>, %w: tensor<8x16x128xbf16>) -> tensor<8x64x128xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<8x8x64xf32>
  %e = stablehlo.exponential %x : tensor<8x8x64x64xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<8x8x64x64xf32>, tensor<f32>) -> tensor<8x8x64xf32>
  %q = stablehlo.divide %one, %s : tensor<8x8x64xf32>
  %b = stablehlo.broadcast_in_dim %q, dims = [0, 1, 2] : (tensor<8x8x64xf32>) -> tensor<8x8x64x64xf32>
  %p = stablehlo.multiply %e, %b : tensor<8x8x64x64xf32>
  %a = stablehlo.convert %p : (tensor<8x8x64x64xf32>) -> tensor<8x8x64x64xbf16>
  %d = stablehlo.dot_general %a, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<8x8x64x64xbf16>, tensor<8x8x64x16xbf16>) -> tensor<8x8x64x16xbf16>
  %t = stablehlo.transpose %d, dims = [0, 2, 1, 3] : (tensor<8x8x64x16xbf16>) -> tensor<8x64x8x16xbf16>
  %o = stablehlo.dot_general %t, %w, contracting_dims = [2, 3] x [0, 1] : (tensor<8x64x8x16xbf16>, tensor<8x16x128xbf16>) -> tensor<8x64x128xbf16>
  return %o : tensor<8x64x128xbf16>
}

// With fewer rows the sums are too small to lead anywhere, and what comes after them rounds.

// CHECK-LABEL: func.func @few_rows
// CHECK:         %[[A:.*]] = stablehlo.convert %{{.*}} -> tensor<7x8x64x64xbf16>
// CHECK:         stablehlo.dot_general %[[A]]
func.func @few_rows(%x: tensor<7x8x64x64xf32>, %v: tensor<7x8x64x16xbf16>) -> tensor<7x8x64x16xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<7x8x64xf32>
  %e = stablehlo.exponential %x : tensor<7x8x64x64xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<7x8x64x64xf32>, tensor<f32>) -> tensor<7x8x64xf32>
  %q = stablehlo.divide %one, %s : tensor<7x8x64xf32>
  %b = stablehlo.broadcast_in_dim %q, dims = [0, 1, 2] : (tensor<7x8x64xf32>) -> tensor<7x8x64x64xf32>
  %p = stablehlo.multiply %e, %b : tensor<7x8x64x64xf32>
  %a = stablehlo.convert %p : (tensor<7x8x64x64xf32>) -> tensor<7x8x64x64xbf16>
  %d = stablehlo.dot_general %a, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<7x8x64x64xbf16>, tensor<7x8x64x16xbf16>) -> tensor<7x8x64x16xbf16>
  return %d : tensor<7x8x64x16xbf16>
}

// A maximum is that of the rounded numbers; what it is taken from is not rounded. Products with
// bf16 operands stay that.

// CHECK-LABEL: func.func @maximum
// CHECK:         %[[D:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<128x64xbf16>, tensor<64x64xbf16>) -> tensor<128x64xf32>
// CHECK:         %[[R:.*]] = stablehlo.convert %[[D]] : (tensor<128x64xf32>) -> tensor<128x64xbf16>
// CHECK:         %[[M:.*]] = stablehlo.reduce(%[[R]]
// CHECK:         stablehlo.subtract %[[D]], %{{.*}} : tensor<128x64xf32>
// CHECK:         stablehlo.convert %{{.*}} -> tensor<128x64xbf16>
func.func @maximum(%x: tensor<128x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<128x64xbf16> {
  %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %d = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<128x64xbf16>, tensor<64x64xbf16>) -> tensor<128x64xbf16>
  %m = stablehlo.reduce(%d init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<128x64xbf16>, tensor<bf16>) -> tensor<128xbf16>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<128xbf16>) -> tensor<128x64xbf16>
  %s = stablehlo.subtract %d, %b : tensor<128x64xbf16>
  return %s : tensor<128x64xbf16>
}

// A product that something else reads is not the cluster's, and a sum of bf16 numbers makes none.

// CHECK-LABEL: func.func @others
// CHECK:         stablehlo.multiply %arg0, %arg0 : tensor<128x64xbf16>
// CHECK:         stablehlo.add {{.*}} : tensor<128x64xbf16>
func.func @others(%x: tensor<128x64xbf16>) -> (tensor<128x64xbf16>, tensor<128xf32>, tensor<128xbf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %narrow = stablehlo.constant dense<0.0> : tensor<bf16>
  %m = stablehlo.multiply %x, %x : tensor<128x64xbf16>
  %w = stablehlo.convert %m : (tensor<128x64xbf16>) -> tensor<128x64xf32>
  %s = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  %a = stablehlo.add %m, %x : tensor<128x64xbf16>
  %n = stablehlo.reduce(%a init: %narrow) applies stablehlo.add across dimensions = [1] : (tensor<128x64xbf16>, tensor<bf16>) -> tensor<128xbf16>
  return %m, %s, %n : tensor<128x64xbf16>, tensor<128xf32>, tensor<128xbf16>
}

// The gradient of a softmax: total and product nearly cancel, and the product is rounded first.

// CHECK-LABEL: func.func @softmax_gradient
// CHECK:         stablehlo.add {{.*}}tessera.uncontracted
func.func @softmax_gradient(%x: tensor<4096x8xf32>, %y: tensor<4096x8xf32>, %t: tensor<4096x8xf32>) -> tensor<4096x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x8xf32>, tensor<f32>) -> tensor<4096xf32>
  %n = stablehlo.negate %r : tensor<4096xf32>
  %b = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4096xf32>) -> tensor<4096x8xf32>
  %p = stablehlo.multiply %x, %y : tensor<4096x8xf32>
  %d = stablehlo.add %p, %b : tensor<4096x8xf32>
  return %d : tensor<4096x8xf32>
}

// Elsewhere the two stay one fused multiply-add.

// CHECK-LABEL: func.func @other_sum
// CHECK-NOT:     tessera.uncontracted
func.func @other_sum(%x: tensor<4096x8xf32>, %y: tensor<4096x8xf32>, %n: tensor<4096xf32>) -> tensor<4096x8xf32> {
  %b = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4096xf32>) -> tensor<4096x8xf32>
  %p = stablehlo.multiply %x, %y : tensor<4096x8xf32>
  %d = stablehlo.add %p, %b : tensor<4096x8xf32>
  return %d : tensor<4096x8xf32>
}
