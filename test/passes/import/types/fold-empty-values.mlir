// RUN: tessera-opt %s --tessera-fold-empty-values | FileCheck %s

// What is computed from arrays without elements is known.

// CHECK-LABEL: func.func @dot
// CHECK-NEXT:    %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT:    return %[[Z]]
func.func @dot(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A reduction of nothing is its initial value, whatever that is.
// CHECK-LABEL: func.func @reduce
// CHECK-NEXT:    %[[R:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:    return %[[R]]
func.func @reduce(%a: tensor<0x3xf32>, %i: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @concatenate
// CHECK-NEXT:    stablehlo.concatenate %arg1, dim = 0 : (tensor<4xf32>) -> tensor<4xf32>
func.func @concatenate(%e: tensor<0xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.concatenate %e, %x, dim = 0 : (tensor<0xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Loops stop carrying them; what is computed of them alone goes.
// CHECK-LABEL: func.func @loop
// CHECK-NOT:     stablehlo.sine
// CHECK:         %[[W:.*]] = stablehlo.while(%[[N:.*]] = %arg1) : tensor<i32>
// CHECK:         return %{{.*}}, %[[W]] : tensor<0xf32>, tensor<i32>
func.func @loop(%e: tensor<0xf32>, %n: tensor<i32>) -> (tensor<0xf32>, tensor<i32>) {
  %0:2 = stablehlo.while(%a = %e, %b = %n) : tensor<0xf32>, tensor<i32>
    cond {
      %c = stablehlo.constant dense<9> : tensor<i32>
      %p = stablehlo.compare LT, %b, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %s = stablehlo.sine %a : tensor<0xf32>
      %t = stablehlo.add %b, %b : tensor<i32>
      stablehlo.return %s, %t : tensor<0xf32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<0xf32>, tensor<i32>
}

// A window that sees nothing but padding sees the initial value as often.
// CHECK-LABEL: func.func @windows
// CHECK:         %[[P:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
// CHECK:         "stablehlo.reduce_window"(%[[P]], %arg1) <{window_dimensions = array<i64: 2>}>
func.func @windows(%e: tensor<0xf32>, %i: tensor<f32>) -> tensor<2xf32> {
  %0 = "stablehlo.reduce_window"(%e, %i) <{window_dimensions = array<i64: 2>, padding = dense<[[1, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<0xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Indices of no elements name one window, at 0: it is still written.

// CHECK-LABEL: func.func @scatter_at_zero
// CHECK:         "stablehlo.scatter"
func.func @scatter_at_zero(%x: tensor<4xf32>, %i: tensor<0xi32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<0xi32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// In the type that it is computed in.
// CHECK-LABEL: func.func @wider
// CHECK:         %[[C:.*]] = stablehlo.convert %arg1 : (tensor<i8>) -> tensor<i32>
// CHECK:         %[[B:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [] : (tensor<i32>) -> tensor<3xi32>
// CHECK:         return %[[B]]
func.func @wider(%a: tensor<0x3xi8>, %i: tensor<i8>) -> tensor<3xi32> {
  %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %1 = stablehlo.maximum %x, %y : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<0x3xi8>, tensor<i8>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
