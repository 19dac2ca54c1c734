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

// -----

// Only bytes cost. The all-to-all of x does not wait for y behind it to be gathered: the dimension is seen as three.
module attributes {tessera.topology = #tessera.topology<alpha = 0.0, beta = 1.0e+09>} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK-LABEL: @main
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    // CHECK: %[[V:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x8xf32>) -> tensor<1x1x2x2x4xf32>
    // CHECK: %[[A:.*]] = comm.all_to_all(%[[V]]) split 3 concat 0 over <@mesh, ["x"=2]> : (tensor<1x1x2x2x4xf32>) -> tensor<2x1x2x1x4xf32>
    // CHECK: %[[G:.*]] = comm.all_gather(%[[A]]) dim 1 over <@mesh, ["y"=2]> : (tensor<2x1x2x1x4xf32>) -> tensor<2x2x2x1x4xf32>
    // CHECK: stablehlo.reshape %[[G]] : (tensor<2x2x2x1x4xf32>) -> tensor<8x4xf32>
    %0 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// Axes of two dimensions go to the third in one all-to-all: their digits become one dimension.
module attributes {tessera.topology = #tessera.topology<alpha = 0.0, beta = 1.0e+09>} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK-LABEL: @main
  func.func public @main(%a: tensor<4x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<4x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x", "y"}]>}) {
    // CHECK: %[[V:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x2x4xf32>) -> tensor<1x2x2x4xf32>
    // CHECK: %[[A:.*]] = comm.all_to_all(%[[V]]) split 3 concat 0 over <@mesh, ["x"=2, "y"=2]> : (tensor<1x2x2x4xf32>) -> tensor<4x2x2x1xf32>
    // CHECK: %[[T:.*]] = stablehlo.transpose
    // CHECK: stablehlo.reshape %[[T]] : ({{.*}}) -> tensor<4x4x1xf32>
    %0 = sdy.reshard %a <@mesh, [{}, {}, {"x", "y"}]> : tensor<4x4x4xf32>
    return %0 : tensor<4x4x4xf32>
  }
}

// -----

// Each device is sent its part of the tile that it shall have, and gathers the others: no shards of nothing.
module attributes {tessera.topology = #tessera.topology<alpha = 0.0, beta = 1.0e+09>} {
  sdy.mesh @mesh = <["x"=7, "y"=2]>
  // CHECK-LABEL: @main
  func.func public @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
    // CHECK: %[[C:.*]] = comm.permute(%{{.*}}) pairs {{.*}} over <@mesh, ["x"=7, "y"=2]> : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %[[C]]
    // CHECK: %[[V:.*]] = stablehlo.reshape %[[S]] : (tensor<2xf32>) -> tensor<1x2xf32>
    // CHECK: %[[G:.*]] = comm.all_gather(%[[V]]) dim 1 over <@mesh, ["x"=7]> : (tensor<1x2xf32>) -> tensor<1x14xf32>
    // CHECK: stablehlo.slice %[[G]] [0:1, 0:8]
    %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}

// -----

// One device keeps what becomes partial. The others add -0 to it: 0 would turn -0 into 0.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @main
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // CHECK: %[[NOTHING:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<8xf32>
  // CHECK: %[[MINE:.*]] = stablehlo.select %{{.*}}, %arg0, %[[NOTHING]]
  // CHECK: comm.all_reduce {{ *}}sum(%[[MINE]])
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
