// RUN: tessera-opt %s --tessera-rewrite-quotients | FileCheck %s

// CHECK-LABEL: func.func @constant
// CHECK: %[[R:.*]] = stablehlo.constant dense<2.500000e-01>
// CHECK: stablehlo.multiply %arg0, %[[R]]
func.func @constant(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<4.0> : tensor<8xf32>
  %0 = stablehlo.divide %x, %c : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// One division a row.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[R:.*]] = stablehlo.divide %{{.*}}, %arg1 : tensor<8xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[R]], dims = [0]
// CHECK: stablehlo.multiply %arg0, %[[B]]
func.func @broadcast(%x: tensor<8x4xf32>, %s: tensor<8xf32>) -> tensor<8x4xf32> {
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %0 = stablehlo.divide %x, %b : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// In bf16 the reciprocal is not rounded.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[S:.*]] = stablehlo.convert %arg1 : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK: %[[R:.*]] = stablehlo.divide %{{.*}}, %[[S]] : tensor<8xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[R]], dims = [0]
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<8x4xbf16>) -> tensor<8x4xf32>
// CHECK: %[[P:.*]] = stablehlo.multiply %[[X]], %[[B]] : tensor<8x4xf32>
// CHECK: stablehlo.convert %[[P]] : (tensor<8x4xf32>) -> tensor<8x4xbf16>
func.func @narrow(%x: tensor<8x4xbf16>, %s: tensor<8xbf16>) -> tensor<8x4xbf16> {
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xbf16>) -> tensor<8x4xbf16>
  %0 = stablehlo.divide %x, %b : tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}

// Not where the divisor is spread to several shapes: each kernel would divide once more.
// CHECK-LABEL: func.func @several
// CHECK-COUNT-2: stablehlo.divide %arg
func.func @several(%x: tensor<8xf32>, %y: tensor<4xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.divide %x, %b : tensor<8xf32>
  %1 = stablehlo.divide %y, %c : tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @roots
// CHECK: %[[S:.*]] = stablehlo.rsqrt %arg1
// CHECK: stablehlo.multiply %arg0, %[[S]]
// CHECK: %[[N:.*]] = stablehlo.negate %arg1
// CHECK: stablehlo.power %arg0, %[[N]]
func.func @roots(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %s = stablehlo.sqrt %y : tensor<8xf32>
  %0 = stablehlo.divide %x, %s : tensor<8xf32>
  %p = stablehlo.power %x, %y : tensor<8xf32>
  %1 = stablehlo.divide %one, %p : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @nested
// CHECK: %[[P:.*]] = stablehlo.multiply %arg0, %arg2
// CHECK: stablehlo.divide %[[P]], %arg1
func.func @nested(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.divide %y, %z : tensor<8xf32>
  %1 = stablehlo.divide %x, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Doubles are divided as they are written; a reciprocal must not be 0, infinite or subnormal.
// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-2: stablehlo.divide
func.func @left_alone(%x: tensor<8xf64>, %y: tensor<8xf32>) -> (tensor<8xf64>, tensor<8xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<8xf64>
  %d = stablehlo.constant dense<1.0e-40> : tensor<8xf32>
  %0 = stablehlo.divide %x, %c : tensor<8xf64>
  %1 = stablehlo.divide %y, %d : tensor<8xf32>
  return %0, %1 : tensor<8xf64>, tensor<8xf32>
}

// -----

// Quantizing rounds the quotient to an integer: an ulp would show as a whole step.

// CHECK-LABEL: func.func @exact
// CHECK: stablehlo.divide
func.func @exact(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<3.000000e-01> : tensor<8xf32>
  %0 = stablehlo.divide %x, %c {tessera.exact_quotient} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
