// The whole phase on a module as JAX writes it: calls, a constraint, constants, and a result that nothing reaches.
// RUN: tessera-opt %s --tessera-propagate | FileCheck %s
// What it leaves can go through it again and stays the same.
// RUN: tessera-opt %s --tessera-propagate > %t.once && tessera-opt %t.once --tessera-propagate | diff %t.once -

sdy.mesh @mesh = <["data"=4, "model"=2]>

// CHECK-LABEL: @main
// CHECK-SAME: %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}
// CHECK-SAME: -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>})
func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<16x32xf32>) -> (tensor<8x32xf32>, tensor<i32>) {
  // CHECK: stablehlo.dot_general {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {"model"}]>]>}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<8x32xf32>
  // CHECK: stablehlo.broadcast_in_dim {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {"model"}]>]>}
  // CHECK: stablehlo.maximum {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {"model"}]>]>}
  %2 = call @relu(%1) : (tensor<8x32xf32>) -> tensor<8x32xf32>
  // CHECK: stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<7> : tensor<i32>
  %c = stablehlo.constant dense<7> : tensor<i32>
  return %2, %c : tensor<8x32xf32>, tensor<i32>
}

// Inlined before.
// CHECK-NOT: @relu
func.func private @relu(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
  %1 = stablehlo.maximum %x, %0 : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
