// Each use of a constant expression has its own copy, each use of a spread-out scalar too. Wrong would be: one use's
// sharding reaching another through a constant they share.
// RUN: tessera-opt %s --tessera-split-constants | FileCheck %s

// CHECK: @main(%[[X:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<f32>)
func.func @main(%x: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[C:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[B1:.*]] = stablehlo.broadcast_in_dim %[[C]]
  // CHECK: %[[B2:.*]] = stablehlo.broadcast_in_dim %[[C]]
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8xf32>
  // CHECK: %[[I1:.*]] = stablehlo.iota
  // CHECK: %[[I2:.*]] = stablehlo.iota
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  // CHECK: %[[E1:.*]] = stablehlo.add %[[I1]], %[[B1]]
  // CHECK: %[[E2:.*]] = stablehlo.add %[[I2]], %[[B2]]
  %e = stablehlo.add %i, %b : tensor<8xf32>
  // CHECK: %[[S1:.*]] = stablehlo.broadcast_in_dim %[[S]]
  // CHECK: %[[S2:.*]] = stablehlo.broadcast_in_dim %[[S]]
  %p = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  // CHECK: %[[Y:.*]] = stablehlo.multiply %[[X]], %[[E1]]
  %0 = stablehlo.multiply %x, %e : tensor<8xf32>
  // CHECK: %[[Z:.*]] = stablehlo.multiply %[[Y]], %[[S1]]
  %1 = stablehlo.multiply %0, %p : tensor<8xf32>
  // CHECK: %[[V:.*]] = stablehlo.add %[[E2]], %[[S2]]
  %2 = stablehlo.add %e, %p : tensor<8xf32>
  // CHECK: return %[[Z]], %[[V]]
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Two operands of one op are two uses.
// CHECK: @barrier
func.func @barrier() -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[I1:.*]] = stablehlo.iota
  // CHECK: %[[I2:.*]] = stablehlo.iota
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  // CHECK: stablehlo.optimization_barrier %[[I1]], %[[I2]]
  %0:2 = stablehlo.optimization_barrier %i, %i : tensor<8xf32>, tensor<8xf32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// A choice among constants is one, too: each user of such indices may lie elsewhere.
// CHECK: @choice
func.func @choice(%x: tensor<8xi32>, %y: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %c = stablehlo.constant dense<[0, 9, 1, 9, 2, 9, 3, 9]> : tensor<8xi32>
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %less = stablehlo.compare LT, %i, %c : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  // CHECK: %[[E1:.*]] = stablehlo.select
  // CHECK: %[[E2:.*]] = stablehlo.select
  %e = stablehlo.select %less, %i, %c : tensor<8xi1>, tensor<8xi32>
  // CHECK: stablehlo.add %{{.*}}, %[[E1]]
  // CHECK: stablehlo.add %{{.*}}, %[[E2]]
  %0 = stablehlo.add %x, %e : tensor<8xi32>
  %1 = stablehlo.add %y, %e : tensor<8xi32>
  return %0, %1 : tensor<8xi32>, tensor<8xi32>
}

// A group of a constant is one of all its copies. Wrong would be: a copy for the group alone, so that what it says of
// the constant reaches none of its uses.
// CHECK: @group
func.func @group(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[I1:.*]] = stablehlo.iota
  // CHECK: sdy.sharding_group %[[I1]] group_id=3
  // CHECK: %[[I2:.*]] = stablehlo.iota
  // CHECK: sdy.sharding_group %[[I2]] group_id=3
  // CHECK-NOT: stablehlo.iota
  // CHECK-NOT: sdy.sharding_group
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  sdy.sharding_group %i group_id=3 : tensor<8xf32>
  // CHECK: stablehlo.add %{{.*}}, %[[I1]]
  // CHECK: stablehlo.add %{{.*}}, %[[I2]]
  %0 = stablehlo.add %x, %i : tensor<8xf32>
  %1 = stablehlo.add %y, %i : tensor<8xf32>
  // CHECK: %[[ALONE:.*]] = stablehlo.iota
  // CHECK: sdy.sharding_group %[[ALONE]] group_id=4
  %alone = stablehlo.iota dim = 0 : tensor<9xf32>
  sdy.sharding_group %alone group_id=4 : tensor<9xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A barrier of a constant is copied with it: it is an identity.
// CHECK: @barred
func.func @barred(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  // CHECK: %[[B1:.*]] = sdy.propagation_barrier
  // CHECK: %[[B2:.*]] = sdy.propagation_barrier
  %b = sdy.propagation_barrier %i allowed_direction=BACKWARD : tensor<8xf32>
  // CHECK: stablehlo.add %{{.*}}, %[[B1]]
  // CHECK: stablehlo.add %{{.*}}, %[[B2]]
  %0 = stablehlo.add %x, %b : tensor<8xf32>
  %1 = stablehlo.add %y, %b : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
