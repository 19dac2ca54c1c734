// Data movement: what breaks a constraint of the specification is refused by its number.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@+1 {{constraint C1: iota_dimension is 1, the output has rank 1}}
  %0 = stablehlo.iota dim = 1 : tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C2: broadcast_dimensions names 0 dimensions, the operand has 1}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C3}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{constraint C4}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 1] : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C5: dimension 0 of the operand has size 4, dimension 0 of the result 2}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x3xf32>) {
  // expected-error@+1 {{constraint C2: operand 1 has shape [3, 3]}}
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{constraint C6: the result has shape [9], expected [8]}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<i32>) {
  // expected-error@+1 {{constraint C4: takes 5 of dimension 0, which has 4}}
  %0 = stablehlo.dynamic_slice %a, %b, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>, %c: tensor<i32>) {
  // expected-error@+1 {{constraint C6: takes 5 of dimension 0, which has 4}}
  %0 = stablehlo.dynamic_update_slice %a, %b, %c : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{constraint C3: interior[0] is -1}}
  %0 = stablehlo.pad %a, %b, low = [1], high = [1], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{constraint C4: the result has shape [7], expected [6]}}
  %0 = stablehlo.pad %a, %b, low = [1], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C2: the operand has 4 elements, the result 5}}
  %0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C3}}
  %0 = stablehlo.reverse %a, dims = [1] : tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C3: takes [0, 5) of dimension 0, which has 4}}
  %0 = stablehlo.slice %a [0:5] : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C4}}
  %0 = stablehlo.slice %a [0:4:0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C5: the result has shape [4], expected [2]}}
  %0 = stablehlo.slice %a [0:4:3] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{constraint C2}}
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{constraint C3: the result has shape [2, 3], expected [3, 2]}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<3x4xf32>, %b: tensor<2x1xi32>) {
  // expected-error@+1 {{constraint C1: an operand of rank 2 with 1 offset, 0 collapsed and 0 batching dimensions}}
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3x4xf32>, %b: tensor<2x1xi32>) {
  // expected-error@+1 {{constraint C9: dimension 0 is dropped, yet its slice has size 2}}
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3x4xf32>, %b: tensor<2x1xi32>) {
  // expected-error@+1 {{constraint C22: the result has shape [3, 4], expected [2, 4]}}
  %0 = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{result #0 must be ranked tensor of integer, floating-point or complex values}}
  %0 = stablehlo.iota dim = 0 : tensor<2xi1>
  return
}

// -----

// Sizes of results that follow from nothing take dynamic_reshape and dynamic_broadcast_in_dim, or a bound.
func.func @f(%a: tensor<?x3xf32>) {
  // expected-error@+1 {{returns 'tensor<3x?xf32>', whose dimension 1 has neither a size nor a bound}}
  %0 = stablehlo.reshape %a : (tensor<?x3xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @f(%a: tensor<?xf32>) {
  // expected-error@+1 {{returns 'tensor<3x?xf32>', whose dimension 1 has neither a size nor a bound}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<?xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @f(%a: tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>> {
  %0 = stablehlo.reshape %a : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>>
  return %0 : tensor<3x?xf32, #stablehlo.bounds<?, 4>>
}

// -----

func.func @f(%a: tensor<?x9xf32, #stablehlo.bounds<4, ?>>) {
  // expected-error@+1 {{constraint C3: takes [1, 7) of dimension 0, which has 4}}
  %0 = stablehlo.slice %a [1:7, 0:9] : (tensor<?x9xf32, #stablehlo.bounds<4, ?>>) -> tensor<6x9xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{constraint C3: the result 'tensor<?x2xf32, #stablehlo.bounds<1, ?>>' is bounded by less than [3, 2]}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<?x2xf32, #stablehlo.bounds<1, ?>>
  return
}
