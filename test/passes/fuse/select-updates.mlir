// A scatter of one update a row into one value is a select; what is updated in place, rows with several updates and
// indices that cannot number all places stay. Guards against updates at places that an index does not name.
// RUN: tessera-opt %s --tessera-select-updates | FileCheck %s

// As the gradient of take_along_axis: an index outside equals no place.
// CHECK-LABEL: @picked
// CHECK: %[[U:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<8xf32>) -> tensor<8x5xf32>
// CHECK: %[[SUM:.*]] = stablehlo.add %[[ZEROS:.*]], %[[U]]
// CHECK: %[[PLACE:.*]] = stablehlo.iota dim = 1 : tensor<8x5xi32>
// CHECK: %[[INDEX:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<8xi32>) -> tensor<8x5xi32>
// CHECK: %[[THERE:.*]] = stablehlo.compare EQ, %[[PLACE]], %[[INDEX]], SIGNED
// CHECK: stablehlo.select %[[THERE]], %[[SUM]], %[[ZEROS]]
// CHECK-NOT: stablehlo.scatter
func.func @picked(%i: tensor<8x1x1xi32>, %u: tensor<8x1xf32>) -> tensor<8x5xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x5xf32>
  %r = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x5xf32>, tensor<8x1x1xi32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  return %r : tensor<8x5xf32>
}

// An update that replaces, along the first of three dimensions.
// CHECK-LABEL: @replaced
// CHECK: %[[U:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<7x3x4xf32>
// CHECK: stablehlo.iota dim = 0 : tensor<7x3x4xui8>
// CHECK: stablehlo.compare EQ, {{.*}} UNSIGNED
// CHECK: stablehlo.select %{{.*}}, %[[U]], %{{.*}} : tensor<7x3x4xi1>, tensor<7x3x4xf32>
func.func @replaced(%i: tensor<3x4x1xui8>, %u: tensor<3x4xf32>) -> tensor<7x3x4xf32> {
  %ones = stablehlo.constant dense<1.0> : tensor<7x3x4xf32>
  %r = "stablehlo.scatter"(%ones, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [1, 2], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<7x3x4xf32>, tensor<3x4x1xui8>, tensor<3x4xf32>) -> tensor<7x3x4xf32>
  return %r : tensor<7x3x4xf32>
}

// CHECK-LABEL: @inPlace
// CHECK: stablehlo.scatter
func.func @inPlace(%x: tensor<8x5xf32>, %i: tensor<8x1xi32>, %u: tensor<8xf32>) -> tensor<8x5xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8x5xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x5xf32>
  return %r : tensor<8x5xf32>
}

// Two updates a row may meet at one place.
// CHECK-LABEL: @several
// CHECK: stablehlo.scatter
func.func @several(%i: tensor<8x2x1xi32>, %u: tensor<8x2xf32>) -> tensor<8x5xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x5xf32>
  %r = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x5xf32>, tensor<8x2x1xi32>, tensor<8x2xf32>) -> tensor<8x5xf32>
  return %r : tensor<8x5xf32>
}

// Place 200 would be -56 in the indices' type, as an index outside may be.
// CHECK-LABEL: @beyond
// CHECK: stablehlo.scatter
func.func @beyond(%i: tensor<8x1xi8>, %u: tensor<8xf32>) -> tensor<8x201xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x201xf32>
  %r = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8x201xf32>, tensor<8x1xi8>, tensor<8xf32>) -> tensor<8x201xf32>
  return %r : tensor<8x201xf32>
}
