// Operations of portable artifacts, of any release, become StableHLO's of today.
// RUN: tessera-opt %s --tessera-vhlo-to-stablehlo --split-input-file | FileCheck %s

// An attribute of the artifact is one of StableHLO: tensors are arrays, strings are symbols; what says
// no more than its absence goes. The kind of function tells the kind of return.
// CHECK-LABEL: func.func private @f(%arg0: tensor<2x3xf32> {jax.buffer_donor = true}) -> tensor<3x2xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.custom_call @g(%[[T]]) {called_computations = [@f], has_side_effect = true} : (tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[C]] : tensor<3x2xf32>
vhlo.func_v1 @f(%arg0: !vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<3x2x!vhlo.f32_v1>) {
  %0 = "vhlo.transpose_v1"(%arg0) <{permutation = #vhlo.tensor_v1<dense<[1, 0]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x2x!vhlo.f32_v1>
  %1 = "vhlo.custom_call_v1"(%0) <{api_version = #vhlo<api_version_v1 API_VERSION_ORIGINAL>, backend_config = #vhlo.string_v1<"">, call_target_name = #vhlo.string_v1<"g">, called_computations = #vhlo.array_v1<[#vhlo.string_v1<"f">]>, has_side_effect = #vhlo.bool_v1<true>, operand_layouts = #vhlo.array_v1<[]>, output_operand_aliases = #vhlo.array_v1<[]>, result_layouts = #vhlo.array_v1<[]>}> : (!vhlo.tensor_v1<3x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x2x!vhlo.f32_v1>
  "vhlo.return_v1"(%1) : (!vhlo.tensor_v1<3x2x!vhlo.f32_v1>) -> ()
} {arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"jax.buffer_donor"> = #vhlo.bool_v1<true>}>]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"private">}

// -----

// Both versions of a dot are one operation; the old one had no algorithm.
// CHECK-LABEL: func.func @dots
// CHECK-NEXT: stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
vhlo.func_v1 @dots(%arg0: !vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> () {
  %0 = "vhlo.dot_general_v1"(%arg0, %arg0) <{lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 HIGH>, #vhlo<precision_v1 DEFAULT>]>, rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>, !vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1>
  %1 = "vhlo.dot_general_v2"(%arg0, %arg0) <{accumulation_type = #vhlo.type_v1<!vhlo.f32_v1>, allow_imprecise_accumulation = #vhlo.bool_v1<false>, lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = #vhlo.integer_v1<1 : i64>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, lhs_precision_type = #vhlo.type_v1<!vhlo.tf31_v1>, num_primitive_operations = #vhlo.integer_v1<1 : i64>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>, rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.integer_v1<1 : i64>, rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = #vhlo.type_v1<!vhlo.tf31_v1>}> : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>, !vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1>
  "vhlo.return_v1"() : () -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}

// -----

// Operations of sdy stand between casts, which go. Inside a region a return is stablehlo's.
// CHECK-LABEL: func.func @mixed
// CHECK-NEXT: %[[C:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<4xf32>
// CHECK-NEXT: "stablehlo.all_reduce"(%[[C]]) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
// CHECK: stablehlo.return
// CHECK-NOT: unrealized_conversion_cast
sdy.mesh @mesh = <["x"=2]>
vhlo.func_v1 @mixed(%arg0: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> () {
  %0 = builtin.unrealized_conversion_cast %arg0 : !vhlo.tensor_v1<4x!vhlo.f32_v1> to tensor<4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<4xf32>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<4xf32> to !vhlo.tensor_v1<4x!vhlo.f32_v1>
  %3 = "vhlo.all_reduce_v1"(%2) <{channel_id = #vhlo.integer_v1<0 : i64>, replica_groups = #vhlo.tensor_v1<dense<0> : tensor<1x1xi64>>, use_global_device_ids = #vhlo.bool_v1<false>}> ({
  ^bb0(%a: !vhlo.tensor_v1<!vhlo.f32_v1>, %b: !vhlo.tensor_v1<!vhlo.f32_v1>):
    %4 = "vhlo.add_v1"(%a, %b) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    "vhlo.return_v1"(%4) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
  }) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
  "vhlo.return_v1"() : () -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
