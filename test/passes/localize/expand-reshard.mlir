// RUN: tessera-opt %s --tessera-localize -split-input-file | FileCheck %s
// Reshards as collectives on local arrays: padding goes where a dimension is whole, comes where it is cut.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK: %[[P:.*]] = comm.slice %{{.*}} dim 1 over <@mesh, ["y"=2]> : (tensor<3x8xf32>) -> tensor<3x4xf32>
  // CHECK: %[[G:.*]] = comm.all_gather(%[[P]]) dim 0 over <@mesh, ["x"=4]> : (tensor<3x4xf32>) -> tensor<12x4xf32>
  // CHECK: stablehlo.slice %[[G]] [0:10, 0:4]
  %0 = sdy.reshard %x <@mesh, [{}, {"y"}]> : tensor<10x8xf32>
  return %0 : tensor<10x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK: comm.all_to_all(%{{.*}}) split 1 concat 0 over <@mesh, ["x"=4]> : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %0 = sdy.reshard %x <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
// A single row lies on one shard: it is broadcast, not gathered.
// CHECK-LABEL: @main
func.func public @main(%x: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<1x8xf32> {
  // CHECK: comm.broadcast(%{{.*}}) over <@mesh, ["x"=4]> : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %0 = sdy.reshard %x <@mesh, [{}, {}]> : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
