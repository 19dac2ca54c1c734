// The whole phase: arrays become one device's parts, a reshard becomes a collective, and the arguments remember their whole type.
// RUN: tessera-opt %s --tessera-localize | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK: @main(%arg0: tensor<4x4xf32> {{{.*}}tessera.global = tensor<4x8xf32>}, %arg1: tensor<4x6xf32> {{{.*}}tessera.global = tensor<8x6xf32>})
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // CHECK: %[[PART:.*]] = stablehlo.dot_general {{.*}} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[SUM:.*]] = comm.all_reduce sum(%[[PART]]) over <@mesh, ["x"=2]>
  // CHECK: return %[[SUM]]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
