// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// Along whole dimensions slices are local; a row of a sharded dimension is written by the shard that has it.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %u: tensor<1x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %i: tensor<i32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[G:.*]] = stablehlo.clamp %{{.*}}, %arg2, %{{.*}}
  // CHECK: comm.axis_index over <@mesh, ["x"=4]>
  // CHECK: %[[FIRST:.*]] = stablehlo.subtract %[[G]]
  // CHECK: %[[ROW:.*]] = stablehlo.clamp %{{.*}}, %[[FIRST]]
  // CHECK: %[[R:.*]] = stablehlo.dynamic_slice %arg0, %[[ROW]], {{.*}} sizes = [1, 3]
  // CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %arg1, %[[R]] : tensor<1x3xi1>, tensor<1x3xf32>
  // CHECK: stablehlo.dynamic_update_slice %arg0, %[[S]], %[[ROW]]
  // CHECK-NOT: comm.all_gather
  // CHECK: return
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %c {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Of a row at an index of the data the shard that has it gives it, the others -0: the row is summed, not all rows gathered.
// CHECK-LABEL: @row
func.func public @row(%x: tensor<10x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<i32>) -> (tensor<1x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[R:.*]] = stablehlo.dynamic_slice %arg0, {{.*}} sizes = [1, 3]
  // CHECK: %[[NONE:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<1x3xf32>
  // CHECK: %[[P:.*]] = stablehlo.select %{{.*}}, %[[R]], %[[NONE]]
  // CHECK: comm.all_reduce sum(%[[P]]) over <@mesh, ["x"=4]> : (tensor<1x3xf32>) -> tensor<1x3xf32>
  // CHECK: return
  %0 = stablehlo.dynamic_slice %x, %i, %c, sizes = [1, 6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}], unreduced={"x"}>]>} : (tensor<10x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<1x6xf32>
  return %1 : tensor<1x6xf32>
}

// Five rows of shards of three: each takes all of its own, and moves them to where they are among the five.
// CHECK-LABEL: @rows
func.func public @rows(%x: tensor<10x6xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>) -> (tensor<5x6xi1> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[R:.*]] = stablehlo.dynamic_slice %arg0, {{.*}} sizes = [3, 6]
  // CHECK: %[[ROOM:.*]] = stablehlo.pad %[[R]], %{{.*}}, low = [5, 0], high = [5, 0]
  // CHECK: %[[P:.*]] = stablehlo.dynamic_slice %[[ROOM]], {{.*}} sizes = [5, 6]
  // CHECK: comm.all_reduce or(%[[P]])
  %0 = stablehlo.dynamic_slice %x, %i, %c, sizes = [5, 6] {tessera.partial = #tessera.partial<or>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<10x6xi1>, tensor<i32>, tensor<i32>) -> tensor<5x6xi1>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<5x6xi1>
  return %1 : tensor<5x6xi1>
}

// An update of part of two sharded dimensions goes to its corner of each shard.
// CHECK-LABEL: @corners
func.func public @corners(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %u: tensor<5x2xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK-NOT: comm.all_gather
  // CHECK: stablehlo.dynamic_slice %{{.*}} sizes = [2, 2] : (tensor<9x2xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}} sizes = [2, 2] : (tensor<2x6xf32>
  // CHECK: %[[THERE:.*]] = stablehlo.dynamic_slice %arg0, {{.*}} sizes = [2, 2]
  // CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[THERE]] : tensor<2x2xi1>, tensor<2x2xf32>
  // CHECK: stablehlo.dynamic_update_slice %arg0, %[[S]]
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x6xf32>, tensor<5x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Parts of a maximum that are written into what changes no maximum are parts of one.
// CHECK-LABEL: @parts
func.func public @parts(%x: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>) -> (tensor<17xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0xFF800000> : tensor<f32>
  %e = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} dense<0xFF800000> : tensor<17xf32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, tessera.partial = #tessera.partial<max>} : (tensor<8x7xf32>, tensor<f32>) -> tensor<7xf32>
  // CHECK: %[[U:.*]] = stablehlo.dynamic_update_slice
  %1 = stablehlo.dynamic_update_slice %e, %0, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, tessera.partial = #tessera.partial<max>} : (tensor<17xf32>, tensor<7xf32>, tensor<i32>) -> tensor<17xf32>
  // CHECK: comm.all_reduce max(%[[U]]) over <@mesh, ["x"=4]>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<17xf32>
  return %2 : tensor<17xf32>
}
