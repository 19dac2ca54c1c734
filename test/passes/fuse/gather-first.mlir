// Single elements of what is computed element by element are computed after they are gathered.
// RUN: tessera-opt %s --split-input-file --tessera-gather-first | FileCheck %s

// A row's numbers are repeated in two steps; the result's dimensions of one element come last.
// CHECK-LABEL: func.func @label
// CHECK-NOT: 8x2048xf32>, tensor<8x2048xf32>
// CHECK: %[[I:.*]] = stablehlo.reshape %arg2 : (tensor<8x1x1xi32>) -> tensor<8x1xi32>
// CHECK: %[[G:.*]] = "stablehlo.gather"(%arg0, %[[I]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x2048xf32>, tensor<8x1xi32>) -> tensor<8xf32>
// CHECK: %[[M:.*]] = stablehlo.reshape %{{.*}} : (tensor<8x1xf32>) -> tensor<8xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[M]], dims = [0] : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[D:.*]] = stablehlo.subtract %[[G]], %[[B]] : tensor<8xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[D]] : (tensor<8xf32>) -> tensor<8x1xf32>
// CHECK: return %[[R]]
func.func @label(%x: tensor<8x2048xf32>, %m: tensor<8xf32>, %i: tensor<8x1x1xi32>) -> tensor<8x1xf32> {
  %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x2048xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<8x2048xf32>
  %r = "stablehlo.gather"(%2, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x2048xf32>, tensor<8x1x1xi32>) -> tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// -----

// Several positions of each row, of two arrays of which one is repeated along the rows.
// CHECK-LABEL: func.func @several
// CHECK-DAG: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1
// CHECK-DAG: %[[X:.*]] = "stablehlo.gather"(%arg0, %arg2) {{.*}} -> tensor<8x3xbf16>
// CHECK-DAG: %[[Y:.*]] = "stablehlo.gather"(%[[B]], %arg2) {{.*}} -> tensor<8x3xf32>
// CHECK-DAG: %[[W:.*]] = stablehlo.convert %[[X]] : (tensor<8x3xbf16>) -> tensor<8x3xf32>
// CHECK: stablehlo.multiply %[[W]], %[[Y]] : tensor<8x3xf32>
func.func @several(%x: tensor<8x2048xbf16>, %y: tensor<2048xf32>, %i: tensor<8x3x1xi32>) -> tensor<8x3xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<2048xf32>) -> tensor<8x2048xf32>
  %1 = stablehlo.convert %x : (tensor<8x2048xbf16>) -> tensor<8x2048xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<8x2048xf32>
  %r = "stablehlo.gather"(%2, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x2048xf32>, tensor<8x3x1xi32>) -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// -----

// Rows, more than a sixteenth of the elements, or of three arrays: these stay.
// CHECK-LABEL: func.func @stay
// CHECK: %[[N:.*]] = stablehlo.negate %arg0
// CHECK: "stablehlo.gather"(%[[N]]
// CHECK: "stablehlo.gather"(%[[N]]
// CHECK: %[[S:.*]] = stablehlo.select
// CHECK: "stablehlo.gather"(%[[S]]
func.func @stay(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>, %p: tensor<8x64xi1>, %rows: tensor<2x1xi32>, %many: tensor<8x5x1xi32>, %one: tensor<8x1xi32>) -> (tensor<2x64xf32>, tensor<8x5xf32>, tensor<8xf32>) {
  %n = stablehlo.negate %x : tensor<8x64xf32>
  %a = "stablehlo.gather"(%n, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<8x64xf32>, tensor<2x1xi32>) -> tensor<2x64xf32>
  %b = "stablehlo.gather"(%n, %many) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x64xf32>, tensor<8x5x1xi32>) -> tensor<8x5xf32>
  %s = stablehlo.select %p, %n, %y : tensor<8x64xi1>, tensor<8x64xf32>
  %c = "stablehlo.gather"(%s, %one) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x64xf32>, tensor<8x1xi32>) -> tensor<8xf32>
  return %a, %b, %c : tensor<2x64xf32>, tensor<8x5xf32>, tensor<8xf32>
}
