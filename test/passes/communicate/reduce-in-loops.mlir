// Gradients that a loop stacks are reduced in its trips, so that the next trip's computation hides them.
// RUN: tessera-opt %s --tessera-reduce-in-loops --split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @stacked
// CHECK: do {
// CHECK: %[[G:.*]] = stablehlo.dot_general
// CHECK: %[[V:.*]] = stablehlo.reshape %[[G]]
// CHECK: %[[R:.*]] = comm.all_reduce sum(%[[V]])
// CHECK: dynamic_update_slice %{{.*}}, %[[R]]
// CHECK: }
// CHECK-NOT: comm.all_reduce
func.func @stacked(%x: tensor<512x512xf32>) -> tensor<4x512x512xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x512x512xf32>
  %0:3 = stablehlo.while(%i = %c, %a = %x, %s = %zeros) : tensor<i32>, tensor<512x512xf32>, tensor<4x512x512xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %g = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %b = stablehlo.dot_general %g, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %v = stablehlo.reshape %g : (tensor<512x512xf32>) -> tensor<1x512x512xf32>
    %t = stablehlo.dynamic_update_slice %s, %v, %i, %c, %c : (tensor<4x512x512xf32>, tensor<1x512x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x512x512xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %b, %t : tensor<i32>, tensor<512x512xf32>, tensor<4x512x512xf32>
  }
  %r = comm.all_reduce sum(%0#2) over <@mesh, ["x"=4]> : (tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  return %r : tensor<4x512x512xf32>
}

// -----

// A reduce-scatter makes the stack smaller; a stack that does not start as zeros stays.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @scattered
// CHECK: do {
// CHECK: comm.reduce_scatter sum(%{{.*}}) dim 1 over <@mesh, ["x"=4]> : (tensor<1x512x512xf32>) -> tensor<1x128x512xf32>
// CHECK: dynamic_update_slice %{{.*}} : (tensor<4x128x512xf32>, tensor<1x128x512xf32>
// CHECK: comm.all_reduce sum
// CHECK: return
func.func @scattered(%x: tensor<512x512xf32>, %start: tensor<4x512x512xf32>) -> (tensor<4x128x512xf32>, tensor<4x512x512xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x512x512xf32>
  %0:4 = stablehlo.while(%i = %c, %a = %x, %s = %zeros, %u = %start) : tensor<i32>, tensor<512x512xf32>, tensor<4x512x512xf32>, tensor<4x512x512xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %g = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %v = stablehlo.reshape %g : (tensor<512x512xf32>) -> tensor<1x512x512xf32>
    %t = stablehlo.dynamic_update_slice %s, %v, %i, %c, %c : (tensor<4x512x512xf32>, tensor<1x512x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x512x512xf32>
    %w = stablehlo.dynamic_update_slice %u, %v, %i, %c, %c : (tensor<4x512x512xf32>, tensor<1x512x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x512x512xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %g, %t, %w : tensor<i32>, tensor<512x512xf32>, tensor<4x512x512xf32>, tensor<4x512x512xf32>
  }
  %r = comm.reduce_scatter sum(%0#2) dim 1 over <@mesh, ["x"=4]> : (tensor<4x512x512xf32>) -> tensor<4x128x512xf32>
  %q = comm.all_reduce sum(%0#3) over <@mesh, ["x"=4]> : (tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  return %r, %q : tensor<4x128x512xf32>, tensor<4x512x512xf32>
}

// -----

// Where a row lies depends on the device: what is stacked at one place differs.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: @differing
// CHECK: do {
// CHECK-NOT: comm.all_reduce
// CHECK: stablehlo.return %{{.*}}, %{{.*}}, %
// CHECK: comm.all_reduce
func.func @differing(%x: tensor<512x512xf32>) -> tensor<4x512x512xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x512x512xf32>
  %me = comm.axis_index over <@mesh, ["x"=4]> : tensor<i32>
  %0:3 = stablehlo.while(%i = %c, %a = %x, %s = %zeros) : tensor<i32>, tensor<512x512xf32>, tensor<4x512x512xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %g = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %v = stablehlo.reshape %g : (tensor<512x512xf32>) -> tensor<1x512x512xf32>
    %at = stablehlo.maximum %i, %me : tensor<i32>
    %t = stablehlo.dynamic_update_slice %s, %v, %at, %c, %c : (tensor<4x512x512xf32>, tensor<1x512x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x512x512xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %g, %t : tensor<i32>, tensor<512x512xf32>, tensor<4x512x512xf32>
  }
  %r = comm.all_reduce sum(%0#2) over <@mesh, ["x"=4]> : (tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  return %r : tensor<4x512x512xf32>
}
