// RUN: tessera-opt %s --tessera-explicit-layouts --split-input-file --verify-diagnostics | FileCheck %s

// Column-major matrices of a custom call become row-major ones of the transposed shape; vectors and
// row-major values stay.

// CHECK-LABEL: func.func @columns
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    %[[C:.*]]:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%[[T]]) {mhlo.backend_config = {}} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>)
// CHECK-NEXT:    %[[R:.*]] = stablehlo.transpose %[[C]]#0, dims = [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT:    return %[[R]], %[[C]]#1
func.func @columns(%a: tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>) {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
  return %0#0, %0#1 : tensor<2x5x3xf32>, tensor<2x3xf32>
}

// -----

// The inverse of a permutation of three: [1, 2, 0] goes back by [2, 0, 1].
// CHECK-LABEL: func.func @three
// CHECK:         stablehlo.transpose %arg0, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
// CHECK:         stablehlo.transpose %{{.*}}, dims = [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
func.func @three(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = stablehlo.custom_call @f(%a) {operand_layouts = [dense<[0, 2, 1]> : tensor<3xindex>], result_layouts = [dense<[0, 2, 1]> : tensor<3xindex>]} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

func.func @no_layouts(%a: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>) {
  // expected-error @+1 {{takes matrices column by column: say so in operand_layouts and result_layouts}}
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<5x3xf32>, tensor<3xf32>
}
