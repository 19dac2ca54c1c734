// RUN: tessera-opt %s --tessera-decompose-chlo --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @square
// CHECK-NEXT:    stablehlo.multiply %arg0, %arg0 : tensor<4xbf16>
func.func @square(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = chlo.square %x : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Narrow types go through f32, or the result would be a bf16 polynomial's.

// CHECK-LABEL: func.func @sinh
// CHECK:         stablehlo.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NOT:     xbf16
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
func.func @sinh(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = chlo.sinh %x : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// What kernels compute stays, and is what others are written by.

// CHECK-LABEL: func.func @erf
// CHECK-NEXT:    %[[ERF:.*]] = chlo.erf %arg0 : tensor<4xbf16> -> tensor<4xbf16>
// CHECK:         chlo.erfc %{{.*}} : tensor<4xf64> -> tensor<4xf64>
func.func @erf(%x: tensor<4xbf16>, %y: tensor<4xf64>) -> (tensor<4xbf16>, tensor<4xf64>) {
  %0 = chlo.erf %x : tensor<4xbf16> -> tensor<4xbf16>
  %1 = chlo.erf_inv %y : tensor<4xf64> -> tensor<4xf64>
  return %0, %1 : tensor<4xbf16>, tensor<4xf64>
}

// CHECK-LABEL: func.func @functions
// CHECK-NOT:     chlo.{{[^e]}}
func.func @functions(%x: tensor<4xf32>, %y: tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf64>) {
  %0 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erf_inv %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.sinh %1 : tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.acos %2 : tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.lgamma %3 : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.next_after %4, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %6 = chlo.erf_inv %y : tensor<4xf64> -> tensor<4xf64>
  %7 = chlo.digamma %6 : tensor<4xf64> -> tensor<4xf64>
  return %5, %7 : tensor<4xf32>, tensor<4xf64>
}

// The sort is stable and descending, so that equal values keep the order of their indices.

// CHECK-LABEL: func.func @top_k
// CHECK:         %[[I:.*]] = stablehlo.iota dim = 1 : tensor<2x8xi32>
// CHECK:         "stablehlo.sort"(%arg0, %[[I]]) <{dimension = 1 : i64, is_stable = true}>
// CHECK:           stablehlo.compare GT, %{{.*}}, %{{.*}}, TOTALORDER
// CHECK:         stablehlo.slice %{{.*}}#0 [0:2, 0:3] : (tensor<2x8xf32>) -> tensor<2x3xf32>
// CHECK:         stablehlo.slice %{{.*}}#1 [0:2, 0:3] : (tensor<2x8xi32>) -> tensor<2x3xi32>
func.func @top_k(%x: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %v, %i = chlo.top_k(%x, k = 3) : tensor<2x8xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %v, %i : tensor<2x3xf32>, tensor<2x3xi32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK:         %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
// CHECK:         stablehlo.add %arg0, %[[B]]
func.func @broadcast(%x: tensor<2x4xf32>, %y: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = chlo.broadcast_add %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// sinh z = -i sin iz; the parts of complex<f32> go through f64.
// CHECK-LABEL: func.func @complex
// CHECK:         %[[R:.*]] = stablehlo.real %arg0
// CHECK:         stablehlo.convert %[[R]] : (tensor<4xf32>) -> tensor<4xf64>
// CHECK:         stablehlo.sine %{{.*}} : tensor<4xcomplex<f64>>
// CHECK:         stablehlo.complex %{{.*}}, %{{.*}} : tensor<4xcomplex<f32>>
func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = chlo.sinh %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// A constant like a complex tensor.

// CHECK-LABEL: func.func @complex_like
// CHECK:         stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<3xcomplex<f32>>
func.func @complex_like(%a: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = "chlo.constant_like"(%a) <{value = #complex.number<:f32 1.0, -2.0> : complex<f32>}> : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
