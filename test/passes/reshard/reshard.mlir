// The whole phase on a contraction whose contracted dimension is sharded: the sum that is left is a reshard of its own.
// RUN: tessera-opt %s --tessera-reshard | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: @main
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // CHECK: %[[PART:.*]] = stablehlo.dot_general {{.*}} unreduced={"x"}
  // CHECK: %[[SUM:.*]] = sdy.reshard %[[PART]] <@mesh, [{}, {}]>
  // CHECK: stablehlo.tanh %[[SUM]]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
