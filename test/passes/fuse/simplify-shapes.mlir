// Chains of shape changes become one; what only renames dimensions of size 1 becomes a reshape.
// RUN: tessera-opt %s --tessera-simplify-shapes | FileCheck %s

// A row scalar is computed on rows, and broadcast in one step.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[M:.*]] = stablehlo.add %arg0, %[[C]] : tensor<8xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[M]], dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %[[B]]
func.func @rows(%r: tensor<8xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x1xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x1xf32>
  %3 = stablehlo.multiply %2, %one : tensor<8x1xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @units
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<8x1x4xf32>) -> tensor<1x8x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @units(%x: tensor<8x1x4xf32>) -> tensor<1x8x4xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<8x1x4xf32>) -> tensor<1x8x4xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<1x8x4xf32>
  return %1 : tensor<1x8x4xf32>
}

// A real transpose stays one.
// CHECK-LABEL: func.func @transposes
// CHECK-NEXT: stablehlo.transpose %arg0, dims = [1, 2, 0]
// CHECK-NEXT: return
func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %0 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32>
  return %1 : tensor<3x4x2xf32>
}

// Two halves that alternate: no element is padded and added.
// CHECK-LABEL: func.func @interleave
// CHECK-DAG: %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.reshape %arg1 : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[B]], %[[A]], dim = 2
// CHECK-NEXT: stablehlo.reshape %[[C]] : (tensor<4x3x2xf32>) -> tensor<4x6xf32>
func.func @interleave(%a: tensor<4x3xf32>, %b: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %1 = stablehlo.pad %b, %z, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @reduces_nothing
// CHECK-NEXT: stablehlo.reshape %arg0
// CHECK-NEXT: return
func.func @reduces_nothing(%a: tensor<1x8x1xf32>) -> tensor<8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x8x1xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Both factors change sides with their batch and contracted dimensions.
// CHECK-LABEL: func.func @swaps
// CHECK-NEXT: stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [1]
// CHECK-NEXT: return
func.func @swaps(%a: tensor<2x3x4xf32>, %b: tensor<2x5x3xf32>) -> tensor<2x5x4xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<2x3x4xf32>, tensor<2x5x3xf32>) -> tensor<2x4x5xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  return %1 : tensor<2x5x4xf32>
}

// So they do where a dimension of size 1 goes somewhere else.
// CHECK-LABEL: func.func @swaps_around_a_unit
// CHECK-NEXT: %[[P:.*]] = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [1] {{.*}} -> tensor<2x5x1x4xf32>
// CHECK-NEXT: stablehlo.reshape %[[P]] : (tensor<2x5x1x4xf32>) -> tensor<2x1x5x4xf32>
func.func @swaps_around_a_unit(%a: tensor<2x3x4xf32>, %b: tensor<2x5x3x1xf32>) -> tensor<2x1x5x4xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<2x3x4xf32>, tensor<2x5x3x1xf32>) -> tensor<2x4x5x1xf32>
  %1 = stablehlo.transpose %0, dims = [0, 3, 2, 1] : (tensor<2x4x5x1xf32>) -> tensor<2x1x5x4xf32>
  return %1 : tensor<2x1x5x4xf32>
}

// Parts of a transposed array are taken of the array itself where they lie in lines and in order.
// CHECK-LABEL: func.func @slices_untransposed
// CHECK-NOT: stablehlo.transpose
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %arg0, %[[Z:.*]], %arg1, %[[Z]], sizes = [3, 1, 16]
// CHECK: stablehlo.reshape %[[W]] : (tensor<3x1x16xf32>) -> tensor<1x3x16xf32>
func.func @slices_untransposed(%w: tensor<3x4x16xf32>, %i: tensor<i32>) -> (tensor<1x3x16xf32>, tensor<1x3x16xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %t = stablehlo.transpose %w, dims = [1, 0, 2] : (tensor<3x4x16xf32>) -> tensor<4x3x16xf32>
  %0 = stablehlo.dynamic_slice %t, %i, %z, %z, sizes = [1, 3, 16] : (tensor<4x3x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x16xf32>
  %1 = stablehlo.dynamic_slice %t, %z, %z, %z, sizes = [1, 3, 16] : (tensor<4x3x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x16xf32>
  return %0, %1 : tensor<1x3x16xf32>, tensor<1x3x16xf32>
}

// Not where each element would be on a line of its own, where a part has another order, and where all
// of it is read anyway.
// CHECK-LABEL: func.func @slices_transposed
// CHECK-COUNT-3: stablehlo.transpose
func.func @slices_transposed(%v: tensor<16x4xf32>, %w: tensor<3x4x16xf32>, %i: tensor<i32>) -> (tensor<1x16xf32>, tensor<2x3x16xf32>, tensor<1x3x16xf32>, tensor<4x3x16xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.transpose %v, dims = [1, 0] : (tensor<16x4xf32>) -> tensor<4x16xf32>
  %1 = stablehlo.dynamic_slice %0, %i, %z, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
  %2 = stablehlo.transpose %w, dims = [1, 0, 2] : (tensor<3x4x16xf32>) -> tensor<4x3x16xf32>
  %3 = stablehlo.dynamic_slice %2, %i, %z, %z, sizes = [2, 3, 16] : (tensor<4x3x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x16xf32>
  %4 = stablehlo.negate %w : tensor<3x4x16xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0, 2] : (tensor<3x4x16xf32>) -> tensor<4x3x16xf32>
  %6 = stablehlo.dynamic_slice %5, %i, %z, %z, sizes = [1, 3, 16] : (tensor<4x3x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x16xf32>
  return %1, %3, %6, %5 : tensor<1x16xf32>, tensor<2x3x16xf32>, tensor<1x3x16xf32>, tensor<4x3x16xf32>
}

// Numbers that count from zero are positions, whichever dimension they lie along; what begins elsewhere, or is short, stays.
// CHECK-LABEL: func.func @positions
// CHECK-DAG: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<64xi32>
// CHECK-DAG: %[[J:.*]] = stablehlo.iota dim = 1 : tensor<1x64xi64>
// CHECK-DAG: %[[K:.*]] = stablehlo.constant dense<{{.*}}> : tensor<64xi32>
// CHECK-DAG: %[[L:.*]] = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK: return %[[I]], %[[J]], %[[K]], %[[L]]
func.func @positions() -> (tensor<64xi32>, tensor<1x64xi64>, tensor<64xi32>, tensor<3xi32>) {
  %i = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]> : tensor<64xi32>
  %j = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]]> : tensor<1x64xi64>
  %k = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64]> : tensor<64xi32>
  %l = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  return %i, %j, %k, %l : tensor<64xi32>, tensor<1x64xi64>, tensor<64xi32>, tensor<3xi32>
}

// What is computed of a slice of a stack stays with its readers: in the slice's shape it would be an
// array beside the slice.
// CHECK-LABEL: func.func @slice(
// CHECK: %[[S:.*]] = stablehlo.dynamic_slice %arg0
// CHECK-NEXT: %[[V:.*]] = stablehlo.reshape %[[S]] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[V]], %{{.*}} : tensor<4x8xf32>
// CHECK-NEXT: return %[[V]], %[[M]]
func.func @slice(%stack: tensor<3x4x8xf32>, %i: tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<4x8xf32>
  %0 = stablehlo.dynamic_slice %stack, %i, %zero, %zero, sizes = [1, 4, 8] : (tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.multiply %1, %two : tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}
