// Forms whose shapes come from values: how many these are is known, and so are the types of what is not in the specification.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<?xindex>) {
  // expected-error@+1 {{constraint C2: output_shape must have one number for each of 2 dimensions, not type 'tensor<?xindex>'}}
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<?xindex>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%a: tensor<?xf32>, %n: tensor<?xi32>) {
  // expected-error@+1 {{constraint C4: output_shape must have one number for each of 1 dimensions}}
  %0 = stablehlo.dynamic_reshape %a, %n : (tensor<?xf32>, tensor<?xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%a: tensor<?xf32>, %z: tensor<f32>, %n: tensor<1xi64>) {
  // expected-error@+1 {{constraint C4: the result has rank 0, the operand 1}}
  %0 = stablehlo.dynamic_pad %a, %z, %n, %n, %n : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<?xf32>, %s: tensor<1xi32>, %l: tensor<1xi64>) {
  // expected-error@+1 {{needs starts, limits and strides of one type, not 'tensor<1xi32>' and 'tensor<1xi64>'}}
  %0 = stablehlo.real_dynamic_slice %a, %s, %l, %l : (tensor<?xf32>, tensor<1xi32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{takes a scalar size of i32, not 'tensor<i64>'}}
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4x3xf32>, tensor<i64>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  return
}

// -----

func.func @f(%t: !stablehlo.token) {
  // expected-error@+1 {{returns 'tensor<3x?xf32>', whose dimension 1 has neither a size nor a bound}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<3x?xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%t: !stablehlo.token) {
  // expected-error@+1 {{returns 'tensor<?xf32>', whose dimension 0 has neither a size nor a bound}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (!stablehlo.token) -> (tensor<?xf32>, !stablehlo.token)
  return
}
