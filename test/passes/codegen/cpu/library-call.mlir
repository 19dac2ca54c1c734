// Operations that the runtime brings have no code: a library's name and the numbers that say what it
// computes (include/tessera/library.h).
// RUN: tessera-opt %s --tessera-codegen-cpu --mlir-elide-resource-strings-if-larger=8 | FileCheck %s

// RFFT (kind 2) in f32 (0) of 6 lines of 10: a cell has up to 8 short lines, one in each lane of a vector. Scratch: two
// places for the 5 + 1 complex doubles of each lane.
// CHECK: exec.kernel @rfft
// CHECK-SAME: grid = 1 : i64, library = "fft", numbers = array<i64: 2, 0, 6, 10>, scratch_bytes = 1536 : i64
exec.kernel @rfft(%x: tensor<2x3x10xf32>) -> tensor<2x3x6xcomplex<f32>> {
  %f = stablehlo.fft %x, type = RFFT, length = [10] : (tensor<2x3x10xf32>) -> tensor<2x3x6xcomplex<f32>>
  exec.yield %f : tensor<2x3x6xcomplex<f32>>
}

// CHECK: exec.kernel @cholesky
// CHECK-SAME: library = "cholesky", numbers = array<i64: 3, 4, 5, 1>
exec.kernel @cholesky(%x: tensor<4x5x5xcomplex<f64>>) -> tensor<4x5x5xcomplex<f64>> {
  %l = stablehlo.cholesky %x, lower = true : tensor<4x5x5xcomplex<f64>>
  exec.yield %l : tensor<4x5x5xcomplex<f64>>
}

// CHECK: exec.kernel @solve
// CHECK-SAME: library = "triangular_solve", numbers = array<i64: 0, 1, 5, 2, 1, 0, 1, 2>
exec.kernel @solve(%a: tensor<5x5xf32>, %b: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %x = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<5x5xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  exec.yield %x : tensor<5x2xf32>
}

// 5 x 3 matrices, column by column. LAPACK's character 'A' asks for all of u and vt.
// CHECK: exec.kernel @svd
// CHECK-SAME: library = "lapack.gesdd", numbers = array<i64: 0, 2, 5, 3, 0, 65, 25, 9>
exec.kernel @svd(%a: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>, tensor<2x3x3xf32>, tensor<2xi32>) {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>, tensor<2x3x3xf32>, tensor<2xi32>)
  exec.yield %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>, tensor<2x3x3xf32>, tensor<2xi32>
}

// What neither the runtime nor LAPACK has is a kernel from outside: its name and attributes, three of which say how it
// is called.
// CHECK: exec.kernel @outside
// CHECK-SAME: flops = 6.000000e+00
// CHECK-SAME: grid = 2 : i64
// CHECK-SAME: outside = "mine"
// CHECK-SAME: outside_attributes = {axis = 1 : i64, grid = 2 : i64, scratch_bytes = 64 : i64}
// CHECK-SAME: scratch_bytes = 64 : i64
exec.kernel @outside(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = stablehlo.custom_call @mine(%a) {mhlo.backend_config = {axis = 1 : i64, grid = 2 : i64, scratch_bytes = 64 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  exec.yield %y : tensor<2x3xf32>
}
