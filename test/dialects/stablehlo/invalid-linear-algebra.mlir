// Linear algebra, Fourier transforms, random numbers: what breaks a constraint of the specification is refused by its number.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<3x4xf32>) {
  // expected-error@+1 {{constraint C3: takes square matrices, not 3 by 4}}
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error@+1 {{constraint C3}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C2}}
  %0 = stablehlo.fft %a, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C5: the result has shape [4], expected [3]}}
  %0 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @f(%a: tensor<4xui64>) {
  // expected-error@+1 {{constraint C2}}
  %0:2 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<4xui64>) -> (tensor<4xui64>, tensor<8xui32>)
  return
}
