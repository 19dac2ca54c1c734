// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// jnp.roll along a sharded dimension is one shift of the rows that cross a boundary, around the end.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: %[[S:.*]] = comm.shift(%arg0) by 1 wrap over <@mesh, ["x"=4]> : (tensor<1x8xf32>) -> tensor<1x8xf32>
  // CHECK-NEXT: return %[[S]]
  %0 = stablehlo.slice %x [3:4, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.slice %x [0:3, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x8xf32>) -> tensor<3x8xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
