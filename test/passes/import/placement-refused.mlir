// RUN: tessera-opt %s --tessera-decompose-custom-calls --tessera-place-values --split-input-file --verify-diagnostics

// What cannot be honoured is refused where the program asks for it: nothing that is placed is dropped.

func.func @kind(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{memory of the kind 'remote' is none that a device has; there are 'device', 'pinned_host' and 'unpinned_host'}}
  %0 = stablehlo.custom_call @annotate_device_placement(%x) {mhlo.frontend_attributes = {_xla_buffer_placement = "remote"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{names no memory: it needs _xla_buffer_placement}}
  %0 = stablehlo.custom_call @annotate_device_placement(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tuple(%x: tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>> {
  // expected-error@+1 {{only arrays can be placed}}
  %0 = stablehlo.custom_call @MoveToHost(%x) : (tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>>
  return %0 : tuple<tensor<4xf32>>
}

// -----

// expected-error@+1 {{memory of the kind 'remote'}}
func.func @argument(%x: tensor<4xf32> {mhlo.memory_kind = "remote"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{memory of the kind 'remote'}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {mhlo.memory_kind = "remote"}) {
  return %x : tensor<4xf32>
}

// -----

func.func @compute_on(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is to be computed on 'host' (compute_on); programs compute on devices only}}
  %0 = stablehlo.tanh %x {mhlo.frontend_attributes = {_xla_compute_type = "host"}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
