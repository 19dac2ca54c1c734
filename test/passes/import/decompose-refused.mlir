// RUN: tessera-opt %s --tessera-decompose-chlo --tessera-decompose-random --split-input-file --verify-diagnostics

// Types that verifiers let pass and decompositions cannot write.

func.func @constant_of_other_type(%a: tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>> {
  // expected-error@+1 {{has a value of type 'f32' for elements of type 'complex<f64>'}}
  %0 = "chlo.constant_like"(%a) <{value = 1.0 : f32}> : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}

// -----

func.func @complex_state(%a: tensor<2xcomplex<f32>>) -> tensor<4xi32> {
  // expected-error@+1 {{takes a state of 16 bytes, not 'tensor<2xcomplex<f32>>'}}
  %state, %bits = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>, tensor<4xi32>)
  return %bits : tensor<4xi32>
}
