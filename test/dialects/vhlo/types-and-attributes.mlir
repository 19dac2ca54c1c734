// The text of versioned types and attributes, as other readers of artifacts print it, is read and printed back.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK: module attributes {
module attributes {
  // CHECK-SAME: test.a = #vhlo.array_v1<[#vhlo.bool_v1<true>, #vhlo.integer_v1<3 : i64>, #vhlo.integer_v1<7 : ui8>, #vhlo.string_v1<"as it is">]>
  test.a = #vhlo.array_v1<[#vhlo.bool_v1<true>, #vhlo.integer_v1<3 : i64>, #vhlo.integer_v1<7 : ui8>, #vhlo.string_v1<"as it is">]>,
  // CHECK-SAME: test.b = #vhlo.dict_v1<{#vhlo.string_v1<"k"> = #vhlo.float_v1<1.500000e+00 : !vhlo.bf16_v1>}>
  test.b = #vhlo.dict_v1<{#vhlo.string_v1<"k"> = #vhlo.float_v1<1.500000e+00 : !vhlo.bf16_v1>}>,
  // CHECK-SAME: test.c = #vhlo.output_operand_alias_v1<outputTupleIndices = [0], operandIndex = 1, operandTupleIndices = []>
  test.c = #vhlo.output_operand_alias_v1<outputTupleIndices = [0], operandIndex = 1, operandTupleIndices = []>,
  // CHECK-SAME: test.d = #vhlo<fft_type_v1 RFFT>
  test.d = #vhlo<fft_type_v1 RFFT>,
  // CHECK-SAME: test.e = #vhlo.result_accuracy_v1<atol = 0.000000e+00, rtol = 2.500000e-01, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>
  test.e = #vhlo.result_accuracy_v1<atol = 0.000000e+00, rtol = 2.500000e-01, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>,
  // CHECK-SAME: test.f = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.token_v1, !vhlo.tuple_v1<!vhlo.i4_v1, !vhlo.ui2_v1>) -> (!vhlo.none_v1)>>
  test.f = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.token_v1, !vhlo.tuple_v1<!vhlo.i4_v1, !vhlo.ui2_v1>) -> (!vhlo.none_v1)>>,
  // CHECK-SAME: test.g = #vhlo.type_v1<!vhlo.tensor_v1<?x2x!vhlo.complex_v1<!vhlo.f64_v1>, #vhlo.type_extensions_v1<bounds = [4, -9223372036854775808]>>>
  test.g = #vhlo.type_v1<!vhlo.tensor_v1<?x2x!vhlo.complex_v1<!vhlo.f64_v1>, #vhlo.type_extensions_v1<bounds = [4, -9223372036854775808]>>>,
  // CHECK-SAME: test.h = #vhlo.type_v1<!vhlo.tensor_v1<4x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:3, -128:127, 1>>>
  test.h = #vhlo.type_v1<!vhlo.tensor_v1<4x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:3, -128:127, 1>>>,
  // CHECK-SAME: test.i = #vhlo.type_v1<!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [5.000000e-01, 1.000000e+00], [0, 1], -128:127, 1>>
  test.i = #vhlo.type_v1<!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [5.000000e-01, 1.000000e+00], [0, 1], -128:127, 1>>,
  // CHECK-SAME: test.j = #vhlo.type_v1<!vhlo.future_v1<!vhlo.buffer_v1<2x!vhlo.tf31_v1>, !vhlo.unranked_tensor_v1<!vhlo.f8E4M3FN_v1>>>
  test.j = #vhlo.type_v1<!vhlo.future_v1<!vhlo.buffer_v1<2x!vhlo.tf31_v1>, !vhlo.unranked_tensor_v1<!vhlo.f8E4M3FN_v1>>>,
  // CHECK-SAME: test.k = #vhlo<api_version_v1 API_VERSION_TYPED_FFI>
  test.k = #vhlo<api_version_v1 API_VERSION_TYPED_FFI>,
  // CHECK-SAME: test.l = #vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.mesh_v1<axes = #vhlo.array_v1<[#vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, size = 4>]>, device_ids = #vhlo.tensor_v1<dense<[3, 2, 1, 0]> : tensor<4xi64>>>, axes = #vhlo.array_v1<[#vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">, sub_axis_info = #vhlo.sub_axis_info_v1<pre_size = 1, size = 2>>]>>
  test.l = #vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.mesh_v1<axes = #vhlo.array_v1<[#vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, size = 4>]>, device_ids = #vhlo.tensor_v1<dense<[3, 2, 1, 0]> : tensor<4xi64>>>, axes = #vhlo.array_v1<[#vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">, sub_axis_info = #vhlo.sub_axis_info_v1<pre_size = 1, size = 2>>]>>,
  // CHECK-SAME: test.m = #vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.string_v1<"m">, axes = #vhlo.array_v1<[#vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">>]>>
  test.m = #vhlo.replica_group_mesh_axes_v1<axes = #vhlo.array_v1<[#vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">>]>, mesh = #vhlo.string_v1<"m">>
} {}
