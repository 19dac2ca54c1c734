// RUN: tessera-opt %s --tessera-import | FileCheck %s

// Only conversions of the program itself widen: asin is computed in f32, but of a tanh rounded to bf16.

// CHECK:         stablehlo.tanh %arg0 : tensor<4xbf16>
// CHECK:         %[[A:.*]] = stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:         %[[P:.*]] = stablehlo.multiply %[[A]], %[[A]] : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[P]]
func.func @main(%a: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %0 = stablehlo.tanh %a : tensor<4xbf16>
  %1 = chlo.asin %0 : tensor<4xbf16> -> tensor<4xbf16>
  %2 = chlo.square %a : tensor<4xbf16> -> tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}
