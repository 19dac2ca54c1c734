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

// A slice of known size begins where data says, of a dimension that it takes as a whole at 0; steps are taken in what it spans.

// CHECK-LABEL: func.func @moving_slice
// CHECK:         %[[A:.*]] = stablehlo.slice %arg1 [0:1]
// CHECK:         %[[I:.*]] = stablehlo.reshape %[[A]] : (tensor<1xi32>) -> tensor<i32>
// CHECK:         %[[Z:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK:         %[[S:.*]] = stablehlo.dynamic_slice %arg0, %[[I]], %[[Z]], sizes = [5, 4] : (tensor<9x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
// CHECK:         stablehlo.slice %[[S]] [0:5:2, 0:4]
func.func @moving_slice(%a: tensor<9x4xf32>, %start: tensor<2xi32>, %limit: tensor<2xi32>) -> tensor<3x4xf32> {
  %step = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %a, %start, %limit, %step : (tensor<9x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Letters of one operand alone are summed first; those of both are batches where the result has them.

// CHECK-LABEL: func.func @einsum
// CHECK:         %[[S:.*]] = stablehlo.reduce(%arg0 {{.*}} across dimensions = [3]
// CHECK:         %[[P:.*]] = stablehlo.dot_general %[[S]], %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1]
// CHECK:         stablehlo.transpose %[[P]], dims = [0, 2, 1]
func.func @einsum(%a: tensor<5x2x3x7xf32>, %b: tensor<5x3x4xf32>) -> tensor<5x4x2xf32> {
  %0 = "stablehlo.einsum"(%a, %b) <{einsum_config = "bijs,bjk->bki"}> : (tensor<5x2x3x7xf32>, tensor<5x3x4xf32>) -> tensor<5x4x2xf32>
  return %0 : tensor<5x4x2xf32>
}

// CHECK-LABEL: func.func @unary_einsum
// CHECK:         %[[S:.*]] = stablehlo.reduce(%arg0 {{.*}} across dimensions = [1]
// CHECK:         stablehlo.transpose %[[S]], dims = [1, 0]
func.func @unary_einsum(%a: tensor<2x3x5xf32>) -> tensor<5x2xf32> {
  %0 = "stablehlo.unary_einsum"(%a) <{einsum_config = "abc->ca"}> : (tensor<2x3x5xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @batched_index_select
// CHECK:         "stablehlo.gather"(%arg0, %arg1)
// CHECK-SAME:      collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2
func.func @batched_index_select(%x: tensor<2x3xf32>, %i: tensor<2x4xi32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @known_padding
// CHECK:         stablehlo.convolution(%arg0, %arg1)
// CHECK-SAME:      pad = {{\[\[}}1, 1]]
func.func @known_padding(%x: tensor<1x1x5xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x5xf32> {
  %p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64,
    batch_group_count = 1 : i64}> : (tensor<1x1x5xf32>, tensor<1x1x3xf32>, tensor<1x2xi32>) -> tensor<1x1x5xf32>
  return %0 : tensor<1x1x5xf32>
}

// CHECK-LABEL: func.func @own_size
// CHECK:         return %arg0
func.func @own_size(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = stablehlo.constant dense<3> : tensor<i32>
  %0 = "stablehlo.set_dimension_size"(%x, %s) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// The kernel's output has the result's type: bytes of a bf16 operand read as f32 were wrong numbers.

// CHECK-LABEL: func.func @promoted_scatter
// CHECK:         %[[X:.*]] = stablehlo.convert %arg0 : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK:         %[[U:.*]] = stablehlo.convert %arg0 : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK:         "stablehlo.scatter"(%[[X]], %arg1, %[[U]])
func.func @promoted_scatter(%x: tensor<2x3xbf16>, %i: tensor<2x1xi32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %x) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xbf16>, tensor<2x1xi32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Places in arrays that are counted in few bits get more: the clamp to the array's size is done in their type.
// CHECK-LABEL: func.func @narrow_indices
// CHECK:         %[[I:.*]] = stablehlo.convert %arg1 : (tensor<ui2>) -> tensor<i32>
// CHECK:         stablehlo.dynamic_slice %arg0, %[[I]], sizes = [2]
func.func @narrow_indices(%a: tensor<8xf32>, %i: tensor<ui2>) -> tensor<2xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<8xf32>, tensor<ui2>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @real_factors
// CHECK:         %[[X:.*]] = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
// CHECK:         %[[W:.*]] = stablehlo.convert %arg1 : (tensor<3x4xf32>) -> tensor<3x4xcomplex<f32>>
// CHECK:         stablehlo.dot_general %[[X]], %[[W]]
func.func @real_factors(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xcomplex<f32>>
  return %0 : tensor<2x4xcomplex<f32>>
}

// CHECK-LABEL: func.func @cross_replica_sum
// CHECK:         "stablehlo.all_reduce"(%{{.*}}) <{replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> ({
// CHECK:           stablehlo.add
func.func @cross_replica_sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Sums of 8-bit numbers in 32 bits don't wrap in between.
// CHECK-LABEL: func.func @wider_sum
// CHECK:         %[[X:.*]] = stablehlo.convert %arg0 : (tensor<8xi8>) -> tensor<8xi32>
// CHECK:         %[[I:.*]] = stablehlo.convert %arg1 : (tensor<i8>) -> tensor<i32>
// CHECK:         stablehlo.reduce(%[[X]] init: %[[I]])
func.func @wider_sum(%x: tensor<8xi8>, %i: tensor<i8>) -> tensor<i32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<8xi8>, tensor<i8>) -> tensor<i32>
   reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}

// The gradient of a convolution's images reads the filter backwards.
// CHECK-LABEL: func.func @reversed_filter
// CHECK-NOT:     stablehlo.reverse
// CHECK:         stablehlo.convolution(%arg0, %arg1) {{.*}} reverse = [true, true]
func.func @reversed_filter(%g: tensor<2x4x4x8xf32>, %w: tensor<3x3x6x8xf32>) -> tensor<2x4x4x6xf32> {
  %0 = stablehlo.reverse %w, dims = [0, 1] : tensor<3x3x6x8xf32>
  %1 = stablehlo.convolution(%g, %0) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x8xf32>, tensor<3x3x6x8xf32>) -> tensor<2x4x4x6xf32>
  return %1 : tensor<2x4x4x6xf32>
}

// Channels are no part of the window.
// CHECK-LABEL: func.func @reversed_channels
// CHECK:         stablehlo.reverse
func.func @reversed_channels(%g: tensor<2x4x4x8xf32>, %w: tensor<3x3x6x8xf32>) -> tensor<2x4x4x6xf32> {
  %0 = stablehlo.reverse %w, dims = [0, 2] : tensor<3x3x6x8xf32>
  %1 = stablehlo.convolution(%g, %0) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x8xf32>, tensor<3x3x6x8xf32>) -> tensor<2x4x4x6xf32>
  return %1 : tensor<2x4x4x6xf32>
}
