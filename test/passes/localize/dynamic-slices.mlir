// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// Along whole dimensions slices are local; one row of a sharded dimension is written by the shard that has it.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %u: tensor<1x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %i: tensor<i32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: stablehlo.clamp
  // CHECK: comm.axis_index over <@mesh, ["x"=4]>
  // CHECK: %[[R:.*]] = stablehlo.dynamic_slice %arg0, {{.*}} sizes = [1, 3]
  // CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %arg1, %[[R]] : tensor<i1>, tensor<1x3xf32>
  // CHECK: stablehlo.dynamic_update_slice %arg0, %[[S]]
  // CHECK-NOT: comm.all_gather
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %c {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
