// Linear algebra, Fourier transforms, random numbers: the text form as other implementations write it is read and printed back.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s

// CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<3x3xf32>
func.func @f(%arg0: tensor<3x3xf32>) {
  %0 = stablehlo.cholesky %arg0, lower = true : tensor<3x3xf32>
  return
}

// -----

// CHECK: stablehlo.cholesky %{{.*}} : tensor<3x3xf32>
func.func @f(%arg0: tensor<3x3xf32>) {
  %0 = stablehlo.cholesky %arg0 : tensor<3x3xf32>
  return
}

// -----

// CHECK: "stablehlo.triangular_solve"(%{{.*}}, %{{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
func.func @f(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
func.func @f(%arg0: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %arg0, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

// CHECK: stablehlo.fft %{{.*}}, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.fft %arg0, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

// CHECK: stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
func.func @f(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<1xi64>) {
  %0 = stablehlo.rng %arg0, %arg1, %arg2, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%arg0: tensor<2xui64>) {
  %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}
