// Elementwise operations: what breaks a constraint of the specification is refused by its number.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{constraint C1: operands and result must have one type: an operand has type 'tensor<4xi32>', the first operand 'tensor<4xf32>'}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error@+1 {{must be ranked tensor of floating-point or complex values}}
  %0 = stablehlo.sine %a : tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C2: exponent_bits is 0}}
  %0 = stablehlo.reduce_precision %a, format = e0m7 : tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<3xi1>, %b: tensor<4xf32>) {
  // expected-error@+1 {{constraint C1: pred has shape [3], the values [4]}}
  %0 = stablehlo.select %a, %b, %b : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{constraint C1: a bound has shape [3], the operand [4]}}
  %0 = stablehlo.clamp %a, %b, %b : (tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C1: the type of narrower elements needs a last dimension of 2}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xui16>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{constraint C2}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

// Zero is an integer of the storage range, which may be less than the storage type.
func.func @f(%a: tensor<4x!quant.uniform<i8:f32, 5.0e-01:300>>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 5.0e-01:300>>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error@+1 {{result #0 must be}}
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<u8<0:15>:f32:0, {1.0:15, 2.0:16}>>
  return
}

// -----

// expected-error@+1 {{scale -5.000000e-01 out of expressed type range}}
func.func private @f(tensor<4x!quant.uniform<i8:f32, -0.5>>)

// -----

// expected-error@+1 {{illegal storage type maximum: 300}}
func.func private @f(tensor<4x!quant.uniform<i8<0:300>:f32, 0.5>>)

// -----

func.func @f(%a: tensor<4x!quant.uniform<i8:f32, 5.0e-01>>) {
  // expected-error@+1 {{result #0 must be ranked tensor of floating-point values that are not quantized}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 5.0e-01>>) -> tensor<4x!quant.uniform<i8:f32, 5.0e-01>>
  return
}

// -----

// Integers of one bit have no sign.
func.func @f(%a: tensor<2xui1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor, quantized per tensor at most, but got 'tensor<2xui1>'}}
  %0 = stablehlo.minimum %a, %a : tensor<2xui1>
  return
}

// -----

// A bound is one of a dimension whose size is not known.
func.func @f(%a: tensor<4x3xf32, #stablehlo.bounds<4, ?>>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = stablehlo.abs %a : tensor<4x3xf32, #stablehlo.bounds<4, ?>>
  return
}

// -----

func.func @f(%a: tensor<?x3xf32, #stablehlo.bounds<4>>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = stablehlo.abs %a : tensor<?x3xf32, #stablehlo.bounds<4>>
  return
}

// -----

// Wrong would be: what has at most one element is taken for something that has two.
func.func @f(%a: tensor<?x3xf32, #stablehlo.bounds<1, ?>>) {
  // expected-error@+1 {{constraint C1: operands and result must have one type}}
  %0 = "stablehlo.tanh"(%a) : (tensor<?x3xf32, #stablehlo.bounds<1, ?>>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #stablehlo.bounds<1>>) {
  // expected-error@+1 {{constraint C1: an operand or the result has type 'tensor<2xi1>', the first operand 'tensor<?xf32, #stablehlo.bounds<1>>', which is beyond a bound}}
  %0 = "stablehlo.is_finite"(%a) : (tensor<?xf32, #stablehlo.bounds<1>>) -> tensor<2xi1>
  return
}
