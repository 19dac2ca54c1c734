// RUN: tessera-opt %s --tessera-localize-program | FileCheck %s
// The signature has local types and keeps global ones; a sharded, uneven reduction masks its padding and is reduced.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK: func.func public @main(%[[X:.*]]: tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tessera.global = tensor<10x8xf32>})
// CHECK-SAME: -> (tensor<8xf32> {tessera.global = tensor<8xf32>})
func.func public @main(%x: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[I:.*]] = comm.axis_index over <@mesh, ["x"=4]>
  // CHECK: %[[M:.*]] = stablehlo.select %{{.*}}, %[[X]], %{{.*}} : tensor<3x8xi1>, tensor<3x8xf32>
  // CHECK: %[[R:.*]] = stablehlo.reduce(%[[M]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<3x8xf32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<10x8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: comm.all_reduce sum(%[[R]]) over <@mesh, ["x"=4]>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  // CHECK-NOT: sdy.reshard
  return %1 : tensor<8xf32>
}
