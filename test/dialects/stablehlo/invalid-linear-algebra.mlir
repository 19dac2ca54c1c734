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

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32, 5.0e-01>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point or complex values that are not quantized}}
  %0 = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2x!quant.uniform<i8:f32, 5.0e-01>>, tensor<2x2x!quant.uniform<i8:f32, 5.0e-01>>) -> tensor<2x2x!quant.uniform<i8:f32, 5.0e-01>>
  return
}

// -----

func.func @f(%a: tensor<complex<f32>>, %n: tensor<1xi64>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of i1, integer or floating-point values}}
  %0 = stablehlo.rng %a, %a, %n, distribution = UNIFORM : (tensor<complex<f32>>, tensor<complex<f32>>, tensor<1xi64>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @f(%a: tensor<2xui64>) {
  // expected-error@+1 {{result #1 must be ranked tensor of integer or floating-point values}}
  %0:2 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x!quant.uniform<i8:f32, 5.0e-01>>)
  return
}

// -----

func.func @f(%s: tensor<2xui64>) {
  // expected-error@+1 {{returns 'tensor<?xui32>', whose dimension 0 has neither a size nor a bound}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<?xui32>)
  return
}
