// Elements that an operation of chlo does not take are refused where it stands.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point or complex values}}
  %0 = chlo.conj %a : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4x!quant.uniform<i8:f32, 5.0e-01>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point values}}
  %0 = chlo.erf %a : tensor<4x!quant.uniform<i8:f32, 5.0e-01>> -> tensor<4x!quant.uniform<i8:f32, 5.0e-01>>
  return
}

// -----

// Quantized along a dimension that the smaller operand lacks.
func.func @f(%a: tensor<4x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>>, %b: tensor<3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor, quantized per tensor at most}}
  %0 = chlo.broadcast_add %a, %b : (tensor<4x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>>, tensor<3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>>) -> tensor<4x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>>
  return
}

// -----

func.func @f(%a: tensor<4xbf16>) {
  // expected-error@+1 {{returns elements of 'bf16', its value is of 'f32'}}
  %0 = "chlo.constant_like"(%a) <{value = 2.5 : f32}> : (tensor<4xbf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{and i32 indices of the same shape}}
  %0:2 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xui32>)
  return
}

// -----

func.func @f(%a: tensor<4xtf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor}}
  %0:2 = chlo.top_k(%a, k = 2) : tensor<4xtf32> -> (tensor<2xtf32>, tensor<2xi32>)
  return
}
