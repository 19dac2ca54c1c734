// chlo operations: the text form as other implementations write it is read and printed back.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s

// CHECK: chlo.acos %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.acos %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.acosh %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.acosh %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.asin %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.asin %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.asinh %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.asinh %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.atan %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.atan %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.atanh %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.atanh %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.bessel_i1e %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.bessel_i1e %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.conj %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.conj %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.cosh %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.cosh %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.digamma %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.digamma %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.erf_inv %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.erf %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.erfc %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.erfc %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.lgamma %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.lgamma %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.sinh %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.sinh %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.square %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.square %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.tan %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.tan %arg0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.is_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.is_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
  return
}

// -----

// CHECK: chlo.is_neg_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.is_neg_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
  return
}

// -----

// CHECK: chlo.is_pos_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = chlo.is_pos_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
  return
}

// -----

// CHECK: chlo.next_after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.next_after %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.polygamma %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.polygamma %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.zeta %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.zeta %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.mulhi %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) {
  %0 = chlo.mulhi %arg0, %arg1 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%arg0: tensor<4xf32>) {
  %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// -----

// CHECK: "chlo.constant_like"(%{{.*}}) <{value = 1.000000e+00 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = "chlo.constant_like"(%arg0) <{value = 1.000000e+00 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: chlo.constant dense<1.000000e+00> : tensor<4xf32>
func.func @f() {
  %0 = chlo.constant dense<1.000000e+00> : tensor<4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_add %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_add %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_add %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_atan2 %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_atan2 %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_atan2 %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_atan2 %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_divide %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_divide %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_divide %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_divide %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_maximum %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_maximum %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_maximum %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_maximum %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_minimum %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_minimum %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_minimum %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_minimum %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_multiply %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_multiply %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_multiply %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_multiply %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_next_after %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_next_after %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_next_after %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_next_after %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_polygamma %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_polygamma %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_polygamma %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_polygamma %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_power %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_power %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_power %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_power %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_remainder %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_remainder %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_remainder %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_remainder %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_subtract %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_subtract %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_subtract %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_subtract %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_zeta %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_zeta %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_zeta %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_zeta %arg0, %arg1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: chlo.broadcast_and %{{.*}}, %{{.*}} : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
func.func @f(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>) {
  %0 = chlo.broadcast_and %arg0, %arg1 : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

// CHECK: chlo.broadcast_or %{{.*}}, %{{.*}} : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
func.func @f(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>) {
  %0 = chlo.broadcast_or %arg0, %arg1 : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

// CHECK: chlo.broadcast_xor %{{.*}}, %{{.*}} : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
func.func @f(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>) {
  %0 = chlo.broadcast_xor %arg0, %arg1 : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

// CHECK: chlo.broadcast_shift_left %{{.*}}, %{{.*}} : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
func.func @f(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>) {
  %0 = chlo.broadcast_shift_left %arg0, %arg1 : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

// CHECK: chlo.broadcast_shift_right_arithmetic %{{.*}}, %{{.*}} : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
func.func @f(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>) {
  %0 = chlo.broadcast_shift_right_arithmetic %arg0, %arg1 : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

// CHECK: chlo.broadcast_shift_right_logical %{{.*}}, %{{.*}} : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
func.func @f(%arg0: tensor<2x4xi32>, %arg1: tensor<4xi32>) {
  %0 = chlo.broadcast_shift_right_logical %arg0, %arg1 : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  return
}

// -----

// CHECK: chlo.broadcast_complex %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_complex %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

// CHECK: chlo.broadcast_compare %{{.*}}, %{{.*}} {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction GE>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
func.func @f(%arg0: tensor<2x4xf32>, %arg1: tensor<4xf32>) {
  %0 = chlo.broadcast_compare %arg0, %arg1 {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction GE>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
  return
}

// -----

// CHECK: chlo.broadcast_select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xi1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  %0 = chlo.broadcast_select %arg0, %arg1, %arg2 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: "chlo.ragged_dot"(%{{.*}}, %{{.*}}, %{{.*}}) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<4x3x5xf32>, tensor<4xi64>) -> tensor<2x5xf32>
func.func @f(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3x5xf32>, %arg2: tensor<4xi64>) {
  %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<4x3x5xf32>, tensor<4xi64>) -> tensor<2x5xf32>
  return
}
