// RUN: tessera-opt %s --tessera-codegen-cpu --split-input-file --verify-diagnostics

// What no library computes is refused where it stands.

exec.kernel @calls_back(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom call @my_function: a kernel from outside cannot call computations of the program}}
  %0 = stablehlo.custom_call @my_function(%a) {called_computations = [@f]} : (tensor<4xf32>) -> tensor<4xf32>
  exec.yield %0 : tensor<4xf32>
}

// -----

exec.kernel @aliases(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom call @my_function: results of a kernel from outside cannot share the memory of operands}}
  %0 = stablehlo.custom_call @my_function(%a) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  exec.yield %0 : tensor<4xf32>
}

// -----

exec.kernel @scratch(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom call @my_function: its attribute scratch_bytes = -1 : i64 must be a whole number from 0 to}}
  %0 = stablehlo.custom_call @my_function(%a) {mhlo.backend_config = {scratch_bytes = -1 : i64}} : (tensor<4xf32>) -> tensor<4xf32>
  exec.yield %0 : tensor<4xf32>
}

// -----

exec.kernel @wrong_results(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{its operands, results or attributes are not those that JAX gives this function}}
  %0 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  exec.yield %0 : tensor<3x5xf32>
}

// -----

exec.kernel @narrow(%a: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  // expected-error @+1 {{a Cholesky decomposition of 'bf16' has no library kernel; convert to f32 or f64 before it}}
  %0 = stablehlo.cholesky %a, lower = true : tensor<4x4xbf16>
  exec.yield %0 : tensor<4x4xbf16>
}
