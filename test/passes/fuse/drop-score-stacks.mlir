// RUN: tessera-opt %s --tessera-drop-score-stacks | FileCheck %s

// What the loop that goes back would read of the first one's probabilities it computes from queries and
// keys, as its gradient then becomes a kernel. Queries stay put away.
// CHECK-LABEL: func.func @layers
// CHECK: %[[FORWARD:.*]]:3 = stablehlo.while({{.*}}) : tensor<i32>, tensor<16x64x8xf32>, tensor<2x16x64x8xf32>
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK: stablehlo.while
// CHECK: stablehlo.dynamic_slice %[[FORWARD]]#2
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.exponential
// CHECK-COUNT-4: stablehlo.dot_general
// CHECK: return
func.func @layers(%x: tensor<16x64x8xf32>, %k: tensor<16x64x8xf32>, %v: tensor<16x64x8xf32>) -> (tensor<16x64x8xf32>, tensor<16x64x8xf32>, tensor<16x64x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %nothing = stablehlo.constant dense<0.0> : tensor<f32>
  %queries = stablehlo.constant dense<0.0> : tensor<2x16x64x8xf32>
  %probabilities = stablehlo.constant dense<0.0> : tensor<2x16x64x64xf32>
  %sums = stablehlo.constant dense<0.0> : tensor<16x64x8xf32>
  %f:4 = stablehlo.while(%i = %zero, %q = %x, %qs = %queries, %ps = %probabilities) : tensor<i32>, tensor<16x64x8xf32>, tensor<2x16x64x8xf32>, tensor<2x16x64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<2>}
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<16x64x8xf32>, tensor<16x64x8xf32>) -> tensor<16x64x64xf32>
    %m = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<16x64x64xf32>, tensor<f32>) -> tensor<16x64xf32>
    %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x64xf32>
    %d = stablehlo.subtract %s, %m2 : tensor<16x64x64xf32>
    %e = stablehlo.exponential %d : tensor<16x64x64xf32>
    %l = stablehlo.reduce(%e init: %nothing) applies stablehlo.add across dimensions = [2] : (tensor<16x64x64xf32>, tensor<f32>) -> tensor<16x64xf32>
    %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x64xf32>
    %p = stablehlo.divide %e, %l2 : tensor<16x64x64xf32>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<16x64x64xf32>, tensor<16x64x8xf32>) -> tensor<16x64x8xf32>
    %q1 = stablehlo.reshape %q : (tensor<16x64x8xf32>) -> tensor<1x16x64x8xf32>
    %qs2 = stablehlo.dynamic_update_slice %qs, %q1, %i, %zero, %zero, %zero : (tensor<2x16x64x8xf32>, tensor<1x16x64x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x16x64x8xf32>
    %p1 = stablehlo.reshape %p : (tensor<16x64x64xf32>) -> tensor<1x16x64x64xf32>
    %ps2 = stablehlo.dynamic_update_slice %ps, %p1, %i, %zero, %zero, %zero : (tensor<2x16x64x64xf32>, tensor<1x16x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x16x64x64xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %o, %qs2, %ps2 : tensor<i32>, tensor<16x64x8xf32>, tensor<2x16x64x8xf32>, tensor<2x16x64x64xf32>
  }
  %b:4 = stablehlo.while(%i = %zero, %do = %x, %dk = %sums, %dv = %sums) : tensor<i32>, tensor<16x64x8xf32>, tensor<16x64x8xf32>, tensor<16x64x8xf32> attributes {tessera.trip_count = #tessera.trip_count<2>}
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %one, %i : tensor<i32>
    %q1 = stablehlo.dynamic_slice %f#2, %j, %zero, %zero, %zero, sizes = [1, 16, 64, 8] : (tensor<2x16x64x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64x8xf32>
    %q = stablehlo.reshape %q1 : (tensor<1x16x64x8xf32>) -> tensor<16x64x8xf32>
    %p1 = stablehlo.dynamic_slice %f#3, %j, %zero, %zero, %zero, sizes = [1, 16, 64, 64] : (tensor<2x16x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64x64xf32>
    %p = stablehlo.reshape %p1 : (tensor<1x16x64x64xf32>) -> tensor<16x64x64xf32>
    %dp = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<16x64x8xf32>, tensor<16x64x8xf32>) -> tensor<16x64x64xf32>
    %t = stablehlo.multiply %p, %dp : tensor<16x64x64xf32>
    %r = stablehlo.reduce(%t init: %nothing) applies stablehlo.add across dimensions = [2] : (tensor<16x64x64xf32>, tensor<f32>) -> tensor<16x64xf32>
    %r2 = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<16x64xf32>) -> tensor<16x64x64xf32>
    %c = stablehlo.subtract %dp, %r2 : tensor<16x64x64xf32>
    %ds = stablehlo.multiply %p, %c : tensor<16x64x64xf32>
    %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<16x64x64xf32>, tensor<16x64x8xf32>) -> tensor<16x64x8xf32>
    %dk1 = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<16x64x64xf32>, tensor<16x64x8xf32>) -> tensor<16x64x8xf32>
    %dv1 = stablehlo.dot_general %p, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<16x64x64xf32>, tensor<16x64x8xf32>) -> tensor<16x64x8xf32>
    %dk2 = stablehlo.add %dk, %dk1 : tensor<16x64x8xf32>
    %dv2 = stablehlo.add %dv, %dv1 : tensor<16x64x8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %dq, %dk2, %dv2 : tensor<i32>, tensor<16x64x8xf32>, tensor<16x64x8xf32>, tensor<16x64x8xf32>
  }
  return %b#1, %b#2, %b#3 : tensor<16x64x8xf32>, tensor<16x64x8xf32>, tensor<16x64x8xf32>
}
