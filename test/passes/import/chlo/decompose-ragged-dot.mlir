// RUN: tessera-opt %s --tessera-decompose-ragged-dot --split-input-file --verify-diagnostics | FileCheck %s

// Rows of a group take that group's matrix: the product with every matrix, of which each row keeps its own.
// Selected afterwards: an infinity in another group's matrix would make a masked row NaN. By one number of each row, so that
// it can have one group only: how many groups end before it.

// CHECK-LABEL: func.func @rows
// CHECK:         %[[ALL:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1]
// CHECK-SAME:      -> tensor<4x3x2xf32>
// CHECK:         %[[ENDS:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<3xi32>) -> tensor<4x3xi32>
// CHECK:         %[[ROWS:.*]] = stablehlo.iota dim = 0 : tensor<4x3xi32>
// CHECK:         %[[PAST:.*]] = stablehlo.compare LE, %[[ENDS]], %[[ROWS]]
// CHECK:         %[[COUNT:.*]] = stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x3xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK:         %[[GROUP:.*]] = stablehlo.broadcast_in_dim %[[COUNT]], dims = [0] : (tensor<4xi32>) -> tensor<4x3x2xi32>
// CHECK:         %[[IS:.*]] = stablehlo.compare EQ, %[[GROUP]], %{{.*}}
// CHECK:         %[[OWN:.*]] = stablehlo.select %[[IS]], %[[ALL]], %{{.*}} : tensor<4x3x2xi1>, tensor<4x3x2xf32>
// CHECK:         stablehlo.reduce(%[[OWN]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
func.func @rows(%x: tensor<4x6xf32>, %w: tensor<3x6x2xf32>, %sizes: tensor<3xi32>) -> tensor<4x2xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<4x6xf32>, tensor<3x6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// Groups of contracted elements: a product for each, of both operands without the others' elements.

// CHECK-LABEL: func.func @contraction
// CHECK:         %[[L:.*]] = stablehlo.select {{.*}} tensor<3x4x6xf32>
// CHECK:         %[[R:.*]] = stablehlo.select {{.*}} tensor<3x6x2xf32>
// CHECK:         stablehlo.dot_general %[[L]], %[[R]], batching_dims = [0] x [0], contracting_dims = [2] x [1]
func.func @contraction(%x: tensor<4x6xf32>, %w: tensor<6x2xf32>, %sizes: tensor<3xi32>) -> tensor<3x4x2xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>}>
    : (tensor<4x6xf32>, tensor<6x2xf32>, tensor<3xi32>) -> tensor<3x4x2xf32>
  return %0 : tensor<3x4x2xf32>
}

// -----

func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x2xf32>, %sizes: tensor<3xi32>) -> tensor<4x2xf32> {
  // expected-error @below {{groups rows of lhs, so rhs needs a group dimension (rhs_group_dimensions)}}
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}>
    : (tensor<4x6xf32>, tensor<6x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
