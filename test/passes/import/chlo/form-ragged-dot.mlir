// A product of rows that are masked for each group, contracted over the groups, is a ragged_dot. Guards against masks that are none
// of groups which follow each other being taken for one, and against dimensions counted with the groups'.
// RUN: tessera-opt %s --tessera-form-ragged-dot | FileCheck %s

// As JAX exports jax.lax.ragged_dot.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT:    %[[R:.*]] = "chlo.ragged_dot"(%arg0, %arg1, %arg2)
// CHECK-SAME:      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]
// CHECK-NEXT:    return %[[R]]
func.func @rows(%lhs: tensor<64x32xf32>, %rhs: tensor<4x32x48xf32>, %sizes: tensor<4xi32>) -> tensor<64x48xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %lhs, dims = [1, 2] : (tensor<64x32xf32>) -> tensor<4x64x32xf32>
  %1 = stablehlo.iota dim = 1 : tensor<4x64x32xi32>
  %ends = "stablehlo.reduce_window"(%sizes, %c) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %4 = stablehlo.slice %3 [0:1] : (tensor<4xi32>) -> tensor<1xi32>
  %5 = stablehlo.slice %ends [0:3] : (tensor<4xi32>) -> tensor<3xi32>
  %starts = stablehlo.concatenate %4, %5, dim = 0 : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>
  %7 = stablehlo.broadcast_in_dim %ends, dims = [0] : (tensor<4xi32>) -> tensor<4x64x32xi32>
  %8 = stablehlo.broadcast_in_dim %starts, dims = [0] : (tensor<4xi32>) -> tensor<4x64x32xi32>
  %9 = stablehlo.compare LE, %8, %1, SIGNED : (tensor<4x64x32xi32>, tensor<4x64x32xi32>) -> tensor<4x64x32xi1>
  %10 = stablehlo.compare LT, %1, %7, SIGNED : (tensor<4x64x32xi32>, tensor<4x64x32xi32>) -> tensor<4x64x32xi1>
  %11 = stablehlo.and %9, %10 : tensor<4x64x32xi1>
  %12 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x64x32xf32>
  %13 = stablehlo.select %11, %0, %12 : tensor<4x64x32xi1>, tensor<4x64x32xf32>
  %14 = stablehlo.dot_general %13, %rhs, contracting_dims = [2, 0] x [1, 0] : (tensor<4x64x32xf32>, tensor<4x32x48xf32>) -> tensor<64x48xf32>
  return %14 : tensor<64x48xf32>
}

// Of groups that overlap, each beginning where all before the one before it end, a row has a product with each.
// CHECK-LABEL: func.func @overlapping
// CHECK-NOT:     chlo.ragged_dot
func.func @overlapping(%lhs: tensor<64x32xf32>, %rhs: tensor<4x32x48xf32>, %sizes: tensor<4xi32>) -> tensor<64x48xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x64x32xf32>
  %two = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = stablehlo.broadcast_in_dim %lhs, dims = [1, 2] : (tensor<64x32xf32>) -> tensor<4x64x32xf32>
  %1 = stablehlo.iota dim = 1 : tensor<4x64x32xi32>
  %ends = "stablehlo.reduce_window"(%sizes, %c) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %5 = stablehlo.slice %ends [0:2] : (tensor<4xi32>) -> tensor<2xi32>
  %starts = stablehlo.concatenate %two, %5, dim = 0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
  %7 = stablehlo.broadcast_in_dim %ends, dims = [0] : (tensor<4xi32>) -> tensor<4x64x32xi32>
  %8 = stablehlo.broadcast_in_dim %starts, dims = [0] : (tensor<4xi32>) -> tensor<4x64x32xi32>
  %9 = stablehlo.compare LE, %8, %1, SIGNED : (tensor<4x64x32xi32>, tensor<4x64x32xi32>) -> tensor<4x64x32xi1>
  %10 = stablehlo.compare LT, %1, %7, SIGNED : (tensor<4x64x32xi32>, tensor<4x64x32xi32>) -> tensor<4x64x32xi1>
  %11 = stablehlo.and %9, %10 : tensor<4x64x32xi1>
  %13 = stablehlo.select %11, %0, %zeros : tensor<4x64x32xi1>, tensor<4x64x32xf32>
  %14 = stablehlo.dot_general %13, %rhs, contracting_dims = [2, 0] x [1, 0] : (tensor<4x64x32xf32>, tensor<4x32x48xf32>) -> tensor<64x48xf32>
  return %14 : tensor<64x48xf32>
}
