// RUN: tessera-opt %s --tessera-localize -split-input-file | FileCheck %s
// Rows move only where a tile would cut a row of the result.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<1x6xf32>) -> tensor<6xf32>
  // CHECK-NEXT: return
  %0 = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4x6xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
// 18 elements in tiles of 5 do not make whole rows of 6: tiles of 6, with rows from the shard before.
// CHECK-LABEL: @main
func.func public @main(%x: tensor<18xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<3x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: comm.shift
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<6xf32>) -> tensor<1x6xf32>
  %0 = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<18xf32>) -> tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
// Two dimensions, both sharded evenly, merge in order.
// CHECK-LABEL: @main
func.func public @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  // CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<1x3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: return
  %0 = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<4x6xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}
