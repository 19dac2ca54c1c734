// Quantized values travel as their integers; arithmetic on them is real, between dequantising and quantising.
// RUN: tessera-opt %s --tessera-decompose-quantized | FileCheck %s

// CHECK-LABEL: func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<2x3xi8>) -> (tensor<2x3xf32>, tensor<3x2xi8>)
// CHECK-NOT: quant.uniform
func.func @main(%x: tensor<2x3xf32>, %w: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>)
    -> (tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) {
  // CHECK: stablehlo.divide %[[X]]
  // CHECK: stablehlo.clamp
  // CHECK: %[[R:.*]] = stablehlo.round_nearest_even
  // CHECK: %[[Q:.*]] = stablehlo.convert %[[R]] : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
  // CHECK: stablehlo.convert %[[Q]]
  // CHECK: stablehlo.convert %[[W]]
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  // CHECK: stablehlo.clamp
  %1 = stablehlo.add %0, %w : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<2x3xf32>
  // Moved, not computed with.
  // CHECK: stablehlo.transpose %[[W]], dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
  %3 = stablehlo.transpose %w, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
  return %2, %3 : tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
}
