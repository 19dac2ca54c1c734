// RUN: tessera-opt %s --tessera-verify-import --split-input-file --verify-diagnostics

// A module as import leaves it is accepted; each promise broken is refused.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = chlo.erf %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main() {
  // expected-error@+1 {{after import there are no calls; run --tessera-inline-calls first}}
  call @f() : () -> ()
  return
}
func.func private @f() {
  return
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{after import there is no such chlo; run --tessera-decompose-chlo first}}
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main() -> tensor<ui32> {
  // expected-error@+1 {{names devices by number outside of a manual computation over mesh axes}}
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

func.func @main() {
  return
}
// expected-error@+1 {{after import only the entry is public}}
func.func @other() {
  return
}

// -----

// expected-error@+1 {{after import there is one public function, of one block}}
module {
}

// -----

// expected-error@+1 {{a value of type 'tensor<4xindex>'; programs compute with arrays of integers, floating-point and complex numbers}}
func.func @main(%x: tensor<4xindex>) -> tensor<4xindex> {
  return %x : tensor<4xindex>
}

// -----

// expected-error@+1 {{a value of type 'tensor<4xf128>'; programs compute with arrays of}}
func.func @main(%x: tensor<4xf128>) -> tensor<4xf128> {
  return %x : tensor<4xf128>
}

// -----

// expected-error@+1 {{a value of type 'tensor<?xf32>', whose shape is not known when the program is compiled}}
func.func @main(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error@+1 {{a value of type 'tensor<4xcomplex<i32>>'; programs compute}}
func.func @main(%x: tensor<4xcomplex<i32>>) {
  return
}

// -----

func.func @main(%x: tensor<2x3xcomplex<f32>>, %w: tensor<3x4xcomplex<f32>>) -> tensor<2x4xf32> {
  // expected-error@+1 {{a product of complex numbers with a real result}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{calls @log, which gives no result; a program is what its results need}}
  stablehlo.custom_call @log(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}
