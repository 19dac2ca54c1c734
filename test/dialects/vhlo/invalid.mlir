// What no artifact can hold is refused where it stands.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{vhlo has no type 'tensor_v9'}}
func.func private @f(!vhlo.tensor_v9<2x!vhlo.f32_v1>)

// -----

// expected-error @+1 {{vhlo has no attribute 'flag_v1'}}
module attributes {test.a = #vhlo.flag_v1<true>} {}

// -----

// expected-error @+1 {{fft_type_v1 has no 'FAST'}}
module attributes {test.a = #vhlo<fft_type_v1 FAST>} {}

// -----

// expected-error @+1 {{this attribute is written in another form}}
module attributes {test.a = #vhlo.bool_v1<3 : i64>} {}

// -----

// expected-error @+1 {{expected a name of its own}}
module attributes {test.a = #vhlo.dict_v1<{#vhlo.string_v1<"k"> = true, #vhlo.string_v1<"k"> = true}>} {}

// -----

// expected-error @+1 {{'vhlo.iota_v1' op has no attribute 'iota_dimension'}}
"vhlo.iota_v1"() : () -> !vhlo.tensor_v1<4x!vhlo.f32_v1>

// -----

// expected-error @+1 {{expected the field 'size'}}
module attributes {test.a = #vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">>} {}

// -----

// expected-error @+1 {{expected a field of its own, not 'name'}}
module attributes {test.a = #vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, name = #vhlo.string_v1<"y">, size = 2>} {}

// -----

// expected-error @+1 {{expected the name of an axis}}
module attributes {test.a = #vhlo.mesh_axis_v1<name = 3 : i64, size = 2>} {}

// -----

// expected-error @+1 {{device_ids of type 'tensor<1xi64>' for 2 devices}}
module attributes {test.a = #vhlo.mesh_v1<axes = #vhlo.array_v1<[#vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, size = 2>]>, device_ids = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>>} {}
