// Elementwise operations: the text form as other implementations write it is read and printed back.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s

// CHECK: stablehlo.abs %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.abs %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.cbrt %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.cbrt %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.ceil %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.ceil %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.cosine %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.cosine %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.exponential %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.exponential %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.exponential_minus_one %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.exponential_minus_one %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.floor %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.floor %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.log %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.log %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.log_plus_one %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.log_plus_one %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.logistic %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.logistic %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.negate %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.round_nearest_afz %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.round_nearest_even %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.round_nearest_even %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.rsqrt %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.rsqrt %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.sign %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.sign %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.sine %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.sine %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.sqrt %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.sqrt %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.tan %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.tan %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.tanh %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.tan %{{.*}} {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.tan %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.cbrt %{{.*}} {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.cbrt %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 2.500000e-01, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.cbrt %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.cbrt %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.count_leading_zeros %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>) {
  %0 = stablehlo.count_leading_zeros %arg0 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.not %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>) {
  %0 = stablehlo.not %arg0 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.popcnt %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>) {
  %0 = stablehlo.popcnt %arg0 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.abs %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.abs %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.real %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.real %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.imag %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.imag %arg0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.is_finite %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xi32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4xui32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<4xf32>) -> tensor<4xui32>
  return
}

// -----

// CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.atan2 %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.atan2 %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.divide %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.divide %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.maximum %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.maximum %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.minimum %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.minimum %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.power %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.power %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.remainder %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.remainder %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.subtract %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.subtract %arg0, %arg1 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.and %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) {
  %0 = stablehlo.and %arg0, %arg1 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.or %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) {
  %0 = stablehlo.or %arg0, %arg1 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.xor %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) {
  %0 = stablehlo.xor %arg0, %arg1 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.shift_left %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) {
  %0 = stablehlo.shift_left %arg0, %arg1 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) {
  %0 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.shift_right_logical %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) {
  %0 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<4xi32>
  return
}

// -----

// CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<4xcomplex<f32>>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
  return
}

// -----

// CHECK: stablehlo.compare GE, %{{.*}}, %{{.*}}, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.compare GE, %arg0, %arg1, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

// CHECK: stablehlo.compare NE, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.compare NE, %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

// CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
func.func @f(%arg0: tensor<f32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>) {
  %0 = stablehlo.clamp %arg0, %arg1, %arg2 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  %0 = stablehlo.clamp %arg0, %arg1, %arg2 : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
func.func @f(%arg0: tensor<4xi1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4xi1>, tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<4xf32>
func.func @f(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
func.func @f(%arg0: tensor<?xf32>, %arg1: tensor<4xf32>) {
  %0 = stablehlo.add %arg0, %arg1 : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

// CHECK: stablehlo.add %{{.*}}, %{{.*}} {sdy.foo = 1 : i64} : tensor<4xf32>
func.func @f(%arg0: tensor<4xf32>) {
  %0 = stablehlo.add %arg0, %arg0 {sdy.foo = 1 : i64} : tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf8E4M3FN>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf8E5M2>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf8E5M2>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf8E4M3B11FNUZ>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf8E4M3B11FNUZ>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf8E4M3B11FNUZ>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf4E2M1FN>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf8E8M0FNU>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf8E8M0FNU>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf8E8M0FNU>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf6E2M3FN>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xf6E2M3FN>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xf6E2M3FN>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xi4>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xi4>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xi4>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xui4>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xui4>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xui4>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xi2>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xi2>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xi2>) -> tensor<4xf32>
  return
}

// -----

// CHECK: stablehlo.convert %{{.*}} : (tensor<4xui2>) -> tensor<4xf32>
func.func @f(%arg0: tensor<4xui2>) {
  %0 = stablehlo.convert %arg0 : (tensor<4xui2>) -> tensor<4xf32>
  return
}
