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

// -----

func.func @f(%a: tensor<4x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{goes along 4 places, dimension 0 of 'tensor<3x3xf32>' has 3}}
  %0:2 = "chlo.scan"(%a, %c) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<3xf32>, %y: tensor<3xf32>):
    %s = stablehlo.add %x, %y : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  }) : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{goes along 5 places, dimension 0 of 'tensor<4x3xf32>' has 4}}
  %0:2 = "chlo.scan"(%a, %c) <{dimension = 0 : i64, scan_dim_size = 5 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<3xf32>, %y: tensor<3xf32>):
    %s = stablehlo.add %x, %y : tensor<3xf32>
    stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
  }) : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  return
}

// -----

// Types agree up to what is not known.
func.func @f(%a: tensor<?x3xf32>) -> tensor<2x3xf32> {
  %0 = chlo.erf %a : tensor<?x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @f(%a: tensor<?x3xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %0 = chlo.erf %a : tensor<?x3xf32> -> tensor<2x4xf32>
  return
}
