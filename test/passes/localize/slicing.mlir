// RUN: tessera-opt %s --tessera-localize -split-input-file | FileCheck %s
// Shards get the rows they need from their neighbours; padding is chosen by row number.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %c = stablehlo.constant dense<5.0> : tensor<f32>
  // Shard 1 wants rows 3..6 of the operand: row 3 comes from shard 0.
  // CHECK: %[[E:.*]] = stablehlo.slice %arg0 [3:4]
  // CHECK: comm.shift(%[[E]]) by 1 over <@mesh, ["y"=2]> : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK: stablehlo.concatenate
  // CHECK: stablehlo.select
  %0 = stablehlo.pad %x, %c, low = [1], high = [-1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
// Shard i's rows go to shard 3 - i. Of 10 rows in tiles of 3 the two missing ones come first: rows move up.
// CHECK-LABEL: @main
func.func public @main(%x: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[P:.*]] = comm.permute(%arg0) pairs [0, 3, 1, 2, 2, 1, 3, 0] over <@mesh, ["x"=4]>
  // CHECK: %[[R:.*]] = stablehlo.reverse %[[P]], dims = [0] : tensor<3xf32>
  // CHECK: comm.shift
  %0 = stablehlo.reverse %x, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// Parts of a maximum stay that beside a whole value, whichever comes last.
// CHECK-LABEL: @parts
func.func public @parts(%x: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, tessera.partial = #tessera.partial<max>} : (tensor<8x7xf32>, tensor<f32>) -> tensor<7xf32>
  // CHECK: %[[C:.*]] = stablehlo.concatenate
  %1 = stablehlo.concatenate %0, %y, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, tessera.partial = #tessera.partial<max>} : (tensor<7xf32>, tensor<3xf32>) -> tensor<10xf32>
  // CHECK: comm.all_reduce max(%[[C]]) over <@mesh, ["x"=
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<10xf32>
  return %2 : tensor<10xf32>
}
