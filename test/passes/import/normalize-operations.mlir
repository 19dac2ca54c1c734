// RUN: tessera-opt %s --tessera-normalize-operations | FileCheck %s

// Operations that a more general one covers are written as that one.

// CHECK-LABEL: func.func @dot
// CHECK-NEXT:    stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
func.func @dot(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT:    stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>
func.func @broadcast(%a: tensor<2x3xf32>) -> tensor<4x5x2x3xf32> {
  %0 = stablehlo.broadcast %a, sizes = [4, 5] : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>
  return %0 : tensor<4x5x2x3xf32>
}

// CHECK-LABEL: func.func @map
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[M:.*]] = stablehlo.multiply %arg0, %[[C]] : tensor<4xf32>
// CHECK-NEXT:    %[[P:.*]] = stablehlo.compare LT, %[[M]], %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    return %[[P]]
func.func @map(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.constant dense<2.0> : tensor<f32>
    %3 = stablehlo.multiply %x, %2 : tensor<f32>
    %4 = stablehlo.compare LT, %3, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: func.func @index_select
// CHECK:         "stablehlo.gather"
// CHECK-SAME:      offset_dims = [0, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2
// CHECK-SAME:      slice_sizes = array<i64: 5, 1, 7>
func.func @index_select(%a: tensor<5x6x7xf32>, %i: tensor<2x3xi32>) -> tensor<5x2x3x7xf32> {
  %0 = "stablehlo.torch_index_select"(%a, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<5x6x7xf32>, tensor<2x3xi32>) -> tensor<5x2x3x7xf32>
  return %0 : tensor<5x2x3x7xf32>
}

// CHECK-LABEL: func.func @known_after_all
// CHECK:         stablehlo.reshape %arg0 : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK:         stablehlo.slice %arg0 [1:5:2] : (tensor<6xf32>) -> tensor<2xf32>
// CHECK:         stablehlo.dynamic_reshape
func.func @known_after_all(%a: tensor<6xf32>, %s: tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<?x?xf32>) {
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %start = stablehlo.constant dense<1> : tensor<1xi64>
  %limit = stablehlo.constant dense<5> : tensor<1xi64>
  %step = stablehlo.constant dense<2> : tensor<1xi64>
  %1 = stablehlo.real_dynamic_slice %a, %start, %limit, %step : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  %2 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2xf32>, tensor<?x?xf32>
}
