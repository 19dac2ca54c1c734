// Quantized values: the text form is read and printed back.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK: stablehlo.uniform_quantize %{{.*}} : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:17>>
// CHECK: stablehlo.uniform_dequantize %{{.*}} : (tensor<4x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:17>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 1.000000e+00:17>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
