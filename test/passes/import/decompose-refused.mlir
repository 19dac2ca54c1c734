// RUN: tessera-opt %s --tessera-decompose-random --verify-diagnostics

// A type that the verifier lets pass and the decomposition cannot write.

func.func @state_of_8_bytes(%a: tensor<2xf32>) -> tensor<4xi32> {
  // expected-error@+1 {{takes a state of 16 bytes, not 'tensor<2xf32>'}}
  %state, %bits = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xf32>) -> (tensor<2xf32>, tensor<4xi32>)
  return %bits : tensor<4xi32>
}
