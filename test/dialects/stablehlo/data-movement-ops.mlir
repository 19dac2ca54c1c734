// Data movement: the text form as other implementations write it is read and printed back.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s

// CHECK: stablehlo.broadcast %{{.*}}, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.broadcast %arg0, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2 : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.get_dimension_size %{{.*}}, dim = 0 : (tensor<4xf32>) -> tensor<i32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4xf32>) -> tensor<i32>
  return
}

// -----

// CHECK: stablehlo.iota dim = 0 : tensor<4xf32>
func.func @f() {
  %0 = stablehlo.iota dim = 0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [1], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

// CHECK: stablehlo.reshape %{{.*}} : (tensor<4xf32>) -> tensor<2x2xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<2x2xf32>
  return
}

// -----

// CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.reverse %arg0, dims = [0] : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.slice %{{.*}} [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.slice %arg0 [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
func.func @f(%arg0: tensor<2x3xf32>) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// CHECK: "stablehlo.torch_index_select"(%{{.*}}, %{{.*}}) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>) {
  %0 = "stablehlo.torch_index_select"(%arg0, %arg1) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<3x4xf32>, %arg1: tensor<2x1xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<3x4xf32>, %arg1: tensor<2x1xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: stablehlo.constant dense<1.500000e+00> : tensor<4xf32>
func.func @f() {
  %0 = stablehlo.constant dense<1.500000e+00> : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.constant dense<[1, 2]> : tensor<2xi32>
func.func @f() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  return
}

// -----

// CHECK: stablehlo.constant dense<true> : tensor<i1>
func.func @f() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  return
}

// -----

// CHECK: stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
func.func @f() {
  %0 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  return
}

// -----

// CHECK: stablehlo.constant dense<> : tensor<0xf32>
func.func @f() {
  %0 = stablehlo.constant dense<> : tensor<0xf32>
  return
}

// -----

// CHECK: stablehlo.constant {foo = 1 : i32} dense<1.000000e+00> : tensor<4xf32>
func.func @f() {
  %0 = stablehlo.constant {foo = 1 : i32} dense<1.000000e+00> : tensor<4xf32>
  return
}
