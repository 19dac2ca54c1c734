// Behind each phase stands no attribute that nobody reads: it would be lost, or kept, by chance.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-verify-import
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --tessera-verify-order

func.func public @main(%x: tensor<8xf32> {jax.buffer_donor = true}) -> tensor<8xf32> {
  // expected-error @+1 {{attribute 'my.note' is none that a phase reads; --tessera-drop-unread-attributes takes such out}}
  %0 = stablehlo.tanh %x {my.note = "hot"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{attribute 'trip_count' is none that a phase reads}}
  %0 = stablehlo.tanh %x {trip_count = 3} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error @+1 {{attribute 'my.arg' is none that a phase reads}}
func.func public @main(%x: tensor<8xf32> {my.arg}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @+1 {{attribute 'my.result' is none that a phase reads}}
func.func public @main(%x: tensor<8xf32>) -> (tensor<8xf32> {my.result}) {
  return %x : tensor<8xf32>
}

// -----

// expected-error @+1 {{attribute 'torch.version' is none that a phase reads}}
module attributes {torch.version = "2"} {
func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
}
