// RUN: tessera-opt %s --split-input-file --tessera-reshard-before-broadcasts | FileCheck %s

// One row is gathered, not the 64 that it becomes; who reads the shards reads them still.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @repeated
func.func @repeated(%x: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<64x8xf32>, tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK: %[[SHARDS:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] {{.*}}[{}, {"x"}]
  // CHECK: %[[ROW:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<1x8xf32>
  // CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[ROW]], dims = [0, 1] {{.*}}[{}, {}]
  // CHECK: return %[[ALL]], %[[SHARDS]]
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<1x8xf32>) -> tensor<64x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<64x8xf32>
  return %1, %0 : tensor<64x8xf32>, tensor<64x8xf32>
}

// -----

// The axes of rows that are not there before go nowhere: what a device has is enough.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @moved_rows
func.func @moved_rows(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK: %[[PART:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK: stablehlo.broadcast_in_dim %[[PART]], dims = [1] {{.*}}[{}, {"x"}]
  // CHECK-NOT: sdy.reshard
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8xf32>) -> tensor<64x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}

// -----

// Nothing is repeated; parts of a sum are added once.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<16x8xf32>) {
  // CHECK: stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: sdy.reshard
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
