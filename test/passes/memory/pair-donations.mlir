// Which output takes the memory of a donated argument.
// RUN: tessera-opt %s --tessera-pair-donations --split-input-file | FileCheck %s
// RUN: tessera-opt %s --tessera-memory --split-input-file -o /dev/null

// The output that is computed from the argument in place, not the first of its type.
// CHECK-LABEL: @step
// CHECK-SAME: %arg0: tensor<8xf32> {tf.aliasing_output = 1 : i32}
// CHECK-SAME: %arg1: tensor<8xf32>)
func.func @step(%p: tensor<8xf32> {jax.buffer_donor = true}, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %m = exec.fused(%a = %p : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %r = exec.fused(%a = %p : tensor<8xf32>, %b = %g : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.subtract %a, %b : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  return %m, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// Of an optimiser's kernel each piece of state stays in its place.
// CHECK-LABEL: @state
// CHECK-SAME: %arg0: tensor<8xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<8xf32> {tf.aliasing_output = 2 : i32}, %arg2
func.func @state(%m: tensor<8xf32> {jax.buffer_donor = true}, %p: tensor<8xf32> {jax.buffer_donor = true}, %g: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>, tensor<8xf32>) {
  %loss = exec.fused() -> tensor<f32> {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    exec.yield %0 : tensor<f32>
  }
  %r:2 = exec.fused(%a = %m : tensor<8xf32>, %b = %p : tensor<8xf32>, %c = %g : tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.subtract %b, %0 : tensor<8xf32>
    exec.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  return %loss, %r#0, %r#1 : tensor<f32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// What is written before the argument is read last can't take its memory, nor what differs in size.
// CHECK-LABEL: @early
// CHECK-SAME: %arg0: tensor<8xf32> {jax.buffer_donor = true}
func.func @early(%p: tensor<8xf32> {jax.buffer_donor = true}, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %r = exec.fused(%a = %g : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.tanh %a : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %s = exec.fused(%a = %p : tensor<8xf32>) -> tensor<4xf32> {
    %0 = stablehlo.slice %a [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    exec.yield %0 : tensor<4xf32>
  }
  return %r, %s : tensor<8xf32>, tensor<4xf32>
}

// -----

// An output of the same size that is written later does, whatever its type; one that is an argument unchanged stays where
// it is.
// CHECK-LABEL: @later
// CHECK-SAME: %arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<2xf32> {tf.aliasing_output = 1 : i32}
func.func @later(%p: tensor<8xf32> {jax.buffer_donor = true}, %q: tensor<2xf32> {jax.buffer_donor = true}) -> (tensor<2x4xi32>, tensor<2xf32>) {
  %s = exec.fused(%a = %p : tensor<8xf32>) -> tensor<4xf32> {
    %0 = stablehlo.slice %a [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    exec.yield %0 : tensor<4xf32>
  }
  %r = exec.fused(%a = %s : tensor<4xf32>) -> tensor<2x4xi32> {
    %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xi32>) -> tensor<2x4xi32>
    exec.yield %1 : tensor<2x4xi32>
  }
  return %r, %q : tensor<2x4xi32>, tensor<2xf32>
}

// -----

// A loop's state.
// CHECK-LABEL: @loop
// CHECK-SAME: %arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}
func.func @loop(%p: tensor<8xf32> {jax.buffer_donor = true}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %p) : tensor<i32>, tensor<8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = exec.fused(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.tanh %a : tensor<8xf32>
      exec.yield %0 : tensor<8xf32>
    }
    stablehlo.return %i, %y : tensor<i32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// -----

// A frontend pairs by whole arrays; a device's parts may differ in size.
// CHECK-LABEL: @unequal
// CHECK-SAME: %arg0: tensor<4x8xf32> {jax.buffer_donor = true}
func.func @unequal(%x: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2x8xf32> {
  %r = exec.fused(%a = %x : tensor<4x8xf32>) -> tensor<2x8xf32> {
    %0 = stablehlo.slice %a [0:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    exec.yield %0 : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}
