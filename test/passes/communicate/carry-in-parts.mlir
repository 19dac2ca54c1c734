// A stage's result is computed in parts, each of which travels while the next is multiplied.
// RUN: tessera-opt %s --tessera-carry-in-parts --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @stages
// CHECK: stablehlo.while
// CHECK-SAME: tensor<64x64xf32>
// CHECK: } do {
// CHECK: %[[S0:.*]] = comm.shift(%{{.*}}) by 1 wrap {{.*}} : (tensor<64x64xf32>)
// CHECK: %[[S1:.*]] = comm.shift(%{{.*}}) by 1 wrap {{.*}} : (tensor<64x64xf32>)
// CHECK: %[[S:.*]] = stablehlo.concatenate %[[S0]], %[[S1]], dim = 1
// CHECK: %[[Y0:.*]] = stablehlo.dot_general %[[S]]
// CHECK-SAME: tensor<64x64xf32>
// CHECK: %[[Y1:.*]] = stablehlo.dot_general %[[S]]
// CHECK-SAME: tensor<64x64xf32>
// What reads the whole has it.
// CHECK: %[[Y:.*]] = stablehlo.concatenate %[[Y0]], %[[Y1]], dim = 1
// CHECK: stablehlo.reduce(%[[Y]]
// CHECK-NOT: stablehlo.dot_general
// CHECK: stablehlo.return %{{.*}}, %[[Y0]], %{{.*}}, %[[Y1]]
// Behind the loop, too.
// CHECK: stablehlo.concatenate
// CHECK: return
module attributes {tessera.topology = #tessera.topology<alpha = 1.000000e-06, beta = 1.000000e+08, flops = 1.000000e+10, memory = 1.000000e+10>} {
sdy.mesh @mesh = <["x"=4]>
func.func @stages(%w: tensor<128x128xf32>, %x: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %t = %none) : tensor<i32>, tensor<64x128xf32>, tensor<f32> attributes {tessera.trip_count = #tessera.trip_count<8>}
  cond {
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %c = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %s = comm.shift(%y) by 1 wrap over <@mesh, ["x"=4]> : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %sum = stablehlo.reduce(%p init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<f32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %p, %sum : tensor<i32>, tensor<64x128xf32>, tensor<f32>
  }
  return %r#1, %r#2 : tensor<64x128xf32>, tensor<f32>
}
}

// -----

// Something else reads what the trip finds: it stays whole. So does what travels at once.

module attributes {tessera.topology = #tessera.topology<alpha = 1.000000e-06, beta = 1.000000e+08, flops = 1.000000e+10, memory = 1.000000e+10>} {
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func.func @read
// CHECK-NOT: concatenate
func.func @read(%w: tensor<128x128xf32>, %x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x128xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
  cond {
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %c = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %s = comm.shift(%y) by 1 wrap over <@mesh, ["x"=4]> : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %q = stablehlo.add %p, %y : tensor<64x128xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %q : tensor<i32>, tensor<64x128xf32>
  }
  return %r#1 : tensor<64x128xf32>
}
}

// -----

module attributes {tessera.topology = #tessera.topology<alpha = 1.000000e-06, beta = 1.000000e+15, flops = 1.000000e+10, memory = 1.000000e+10>} {
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func.func @quick
// CHECK-NOT: concatenate
func.func @quick(%w: tensor<128x128xf32>, %x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x128xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
  cond {
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %c = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %s = comm.shift(%y) by 1 wrap over <@mesh, ["x"=4]> : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %p : tensor<i32>, tensor<64x128xf32>
  }
  return %r#1 : tensor<64x128xf32>
}
}
