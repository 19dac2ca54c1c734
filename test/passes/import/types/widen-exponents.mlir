// RUN: tessera-opt %s --tessera-widen-exponents | FileCheck %s

// f8E8M0FNU is computed in f64: in f32 kernels would flush its 2^-127. Comparisons and movement stay.

// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = stablehlo.convert %arg0 : (tensor<4xf8E8M0FNU>) -> tensor<4xf64>
// CHECK:         %[[B:.*]] = stablehlo.convert %arg1 : (tensor<4xf8E8M0FNU>) -> tensor<4xf64>
// CHECK:         %[[W:.*]] = stablehlo.multiply %[[A]], %[[B]] : tensor<4xf64>
// CHECK:         %[[M:.*]] = stablehlo.convert %[[W]] : (tensor<4xf64>) -> tensor<4xf8E8M0FNU>
// CHECK:         stablehlo.compare LT, %[[M]], %arg0
// CHECK:         reducer
// CHECK:           %[[MIN:.*]] = stablehlo.minimum {{.*}} : tensor<f64>
// CHECK:           %[[R:.*]] = stablehlo.convert %[[MIN]] : (tensor<f64>) -> tensor<f8E8M0FNU>
// CHECK:           stablehlo.return %[[R]]
func.func @main(%a: tensor<4xf8E8M0FNU>, %b: tensor<4xf8E8M0FNU>, %i: tensor<f8E8M0FNU>) -> (tensor<4xf8E8M0FNU>, tensor<4xi1>, tensor<f8E8M0FNU>) {
  %0 = stablehlo.multiply %a, %b : tensor<4xf8E8M0FNU>
  %1 = stablehlo.compare LT, %0, %a : (tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) -> tensor<4xi1>
  %2 = stablehlo.reduce(%0 init: %i) across dimensions = [0] : (tensor<4xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU>
   reducer(%x: tensor<f8E8M0FNU>, %y: tensor<f8E8M0FNU>) {
    %m = stablehlo.minimum %x, %y : tensor<f8E8M0FNU>
    stablehlo.return %m : tensor<f8E8M0FNU>
  }
  return %0, %1, %2 : tensor<4xf8E8M0FNU>, tensor<4xi1>, tensor<f8E8M0FNU>
}

// What picks elements by an index picks their bits: parts of a result are added up, and the type has no zero.

// CHECK-LABEL: func.func @picked
// CHECK:         %[[BITS:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<4xf8E8M0FNU>) -> tensor<4xui8>
// CHECK:         %[[PART:.*]] = stablehlo.dynamic_slice %[[BITS]], %arg1, sizes = [2] : (tensor<4xui8>, tensor<i32>) -> tensor<2xui8>
// CHECK:         stablehlo.bitcast_convert %[[PART]] : (tensor<2xui8>) -> tensor<2xf8E8M0FNU>
func.func @picked(%a: tensor<4xf8E8M0FNU>, %i: tensor<i32>) -> tensor<2xf8E8M0FNU> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xf8E8M0FNU>, tensor<i32>) -> tensor<2xf8E8M0FNU>
  return %0 : tensor<2xf8E8M0FNU>
}
