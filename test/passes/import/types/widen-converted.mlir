// RUN: tessera-opt %s --tessera-widen-converted | FileCheck %s

// What is read in f32 is not rounded to bf16 on the way there; its other readers get it rounded.

// CHECK-LABEL: func.func @product
// CHECK:         %[[A:.*]] = stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:         %[[B:.*]] = stablehlo.convert %arg1 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:         %[[W:.*]] = stablehlo.multiply %[[A]], %[[B]] {sdy.sharding = {{.*}}} : tensor<4xf32>
// CHECK:         %[[M:.*]] = stablehlo.convert %[[W]] {sdy.sharding = {{.*}}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK:         return %[[M]], %[[W]], %[[W]]
sdy.mesh @mesh = <["x"=2]>
func.func @product(%a: tensor<4xbf16>, %b: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.multiply %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>
}

// Of two such operations in a row, the first still rounds what the second reads.

// CHECK-LABEL: func.func @chain
// CHECK:         %[[E:.*]] = stablehlo.exponential %{{.*}} : tensor<4xf32>
// CHECK:         %[[R:.*]] = stablehlo.convert %[[E]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-DAG:     %[[S:.*]] = stablehlo.convert %[[R]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-DAG:     %[[HALF:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK:         %[[L:.*]] = stablehlo.add %[[S]], %[[HALF]] : tensor<4xf32>
// CHECK:         return %[[L]], %[[E]]
func.func @chain(%a: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xf32>) {
  %half = stablehlo.constant dense<0.5> : tensor<4xbf16>
  %0 = stablehlo.exponential %a : tensor<4xbf16>
  %1 = stablehlo.add %0, %half : tensor<4xbf16>
  %2 = stablehlo.convert %1 : (tensor<4xbf16>) -> tensor<4xf32>
  %3 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// Contractions keep their bf16 operands.

// CHECK-LABEL: func.func @contractions
// CHECK:         stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x6xbf16>, tensor<6x2xbf16>) -> tensor<4x2xf32>
// CHECK:         stablehlo.dot_general %arg2, %arg2, contracting_dims = [1, 2] x [1, 2] : (tensor<3x2x2xbf16>, tensor<3x2x2xbf16>) -> tensor<3x3xf32>
func.func @contractions(%a: tensor<4x6xbf16>, %b: tensor<6x2xbf16>, %c: tensor<3x2x2xbf16>) -> (tensor<4x2xf32>, tensor<3x3xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xbf16>, tensor<6x2xbf16>) -> tensor<4x2xbf16>
  %1 = stablehlo.convert %0 : (tensor<4x2xbf16>) -> tensor<4x2xf32>
  %2 = stablehlo.dot_general %c, %c, contracting_dims = [1, 2] x [1, 2] : (tensor<3x2x2xbf16>, tensor<3x2x2xbf16>) -> tensor<3x3xbf16>
  %3 = stablehlo.convert %2 : (tensor<3x3xbf16>) -> tensor<3x3xf32>
  return %1, %3 : tensor<4x2xf32>, tensor<3x3xf32>
}

// Data movement and f16 stay.

// CHECK-LABEL: func.func @others
// CHECK:         stablehlo.negate %arg0 : tensor<4xbf16>
// CHECK:         stablehlo.add %arg1, %arg1 : tensor<4xf16>
func.func @others(%a: tensor<4xbf16>, %b: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.negate %a : tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.add %b, %b : tensor<4xf16>
  %3 = stablehlo.convert %2 : (tensor<4xf16>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}
