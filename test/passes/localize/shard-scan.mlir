// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// Along a sharded dimension, a running sum sends totals of shards, not rows: in steps of 1 and 2 shards here. Wrong would be
// what comes from before the first shard (zeros are no neutral start of a maximum), and rows of a shard that it was given twice.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @doubling
func.func public @doubling(%x: tensor<12x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<12x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %c = stablehlo.constant dense<-5> : tensor<i32>
  // CHECK: %[[W:.*]] = "stablehlo.reduce_window"(%arg0, %{{.*}}) <{padding = dense<{{\[\[}}2, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>}>
  // CHECK: %[[T:.*]] = stablehlo.slice %[[W]] [2:3, 0:3]
  // CHECK: %[[I:.*]] = comm.axis_index over <@mesh, ["x"=4]>
  // CHECK: %[[HAS:.*]] = stablehlo.compare GE, %[[I]]
  // CHECK: %[[S1:.*]] = comm.shift(%[[T]]) by 1 over <@mesh, ["x"=4]> : (tensor<1x3xi32>) -> tensor<1x3xi32>
  // CHECK: %[[START:.*]] = stablehlo.constant dense<-5> : tensor<1x3xi32>
  // CHECK: %[[G1:.*]] = stablehlo.select %[[HAS]], %[[S1]], %[[START]]
  // CHECK: %[[M:.*]] = stablehlo.maximum %[[G1]], %[[T]]
  // CHECK: comm.shift(%[[M]]) by 2
  // CHECK: %[[G2:.*]] = stablehlo.select
  // CHECK: %[[B:.*]] = stablehlo.maximum %[[G2]], %[[G1]]
  // CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [0, 1]
  // CHECK: stablehlo.maximum %[[ALL]], %[[W]]
  // CHECK-NOT: comm.
  // CHECK: return
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 12, 1>, padding = dense<[[11, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<12x3xi32>, tensor<i32>) -> tensor<12x3xi32>
  return %0 : tensor<12x3xi32>
}

// From the last row on: the total is the first row, comes from the shard behind, and rows past the end are masked.
// CHECK-LABEL: @reversed
func.func public @reversed(%x: tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %c = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: %[[X:.*]] = stablehlo.select %{{.*}}, %arg0, %{{.*}} : tensor<5xi1>, tensor<5xf32>
  // CHECK: %[[W:.*]] = "stablehlo.reduce_window"(%[[X]], %{{.*}}) <{padding = dense<{{\[\[}}0, 4]]>
  // CHECK: %[[T:.*]] = stablehlo.slice %[[W]] [0:1]
  // CHECK: comm.shift(%[[T]]) by -1
  // CHECK: stablehlo.add %[[W]], %{{.*}} : tensor<5xf32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 9>, padding = dense<[[0, 8]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// Sums of bf16: totals are not rounded again at each shard that they go past.
// CHECK-LABEL: @narrow
func.func public @narrow(%x: tensor<12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  // CHECK: %[[W:.*]] = "stablehlo.reduce_window"(%arg0, %{{.*}})
  // CHECK: %[[F:.*]] = stablehlo.convert %[[W]] : (tensor<3xbf16>) -> tensor<3xf32>
  // CHECK: %[[T:.*]] = stablehlo.slice %[[F]] [2:3]
  // CHECK: comm.shift(%[[T]]) by 1 over <@mesh, ["x"=4]> : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK: comm.shift(%{{.*}}) by 2 over <@mesh, ["x"=4]> : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK: %[[S:.*]] = stablehlo.add %{{.*}}, %[[F]] : tensor<3xf32>
  // CHECK: stablehlo.convert %[[S]] : (tensor<3xf32>) -> tensor<3xbf16>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 12>, padding = dense<[[11, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %m = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %m : tensor<bf16>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<12xbf16>, tensor<bf16>) -> tensor<12xbf16>
  return %0 : tensor<12xbf16>
}

// Many totals go from shard to shard in parts, in a loop of one shift.
// CHECK-LABEL: @pipelined
func.func public @pipelined(%x: tensor<8x1000000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x1000000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %c = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: stablehlo.while
  // CHECK-SAME: tessera.trip_count = #tessera.trip_count<[[TRIPS:.*]]>
  // CHECK: comm.shift(%{{.*}}) by 1 over <@mesh, ["x"=4]> : (tensor<[[PART:.*]]xf32>) -> tensor<[[PART]]xf32>
  // CHECK-NOT: comm.shift
  // CHECK: return
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 8, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x1000000xf32>, tensor<f32>) -> tensor<8x1000000xf32>
  return %0 : tensor<8x1000000xf32>
}

// A start that sums would take more often than once for each element: all rows are gathered, as the windows say.
// CHECK-LABEL: @counted_starts
func.func public @counted_starts(%x: tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %c = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: comm.all_gather(%{{.*}}) dim 0 over <@mesh, ["y"=2]> : (tensor<5xf32>) -> tensor<10xf32>
  // CHECK: "stablehlo.reduce_window"(%{{.*}}) <{padding = dense<{{\[\[}}8, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 9>}>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 9>, padding = dense<[[8, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// Several at once: each narrow one's.
// CHECK-LABEL: @two_sums
func.func public @two_sums(%x: tensor<12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  %d = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: %[[W:.*]]:2 = "stablehlo.reduce_window"
  // CHECK-DAG: stablehlo.convert %[[W]]#0 : (tensor<3xbf16>) -> tensor<3xf32>
  // CHECK-NOT: stablehlo.convert %[[W]]#1
  // CHECK-NOT: tensor<1xbf16>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<3xf32>) -> tensor<3xbf16>
  %0:2 = "stablehlo.reduce_window"(%x, %y, %c, %d) <{window_dimensions = array<i64: 12>, padding = dense<[[11, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<bf16>, %e: tensor<f32>, %b: tensor<bf16>, %f: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<bf16>
    %n = stablehlo.add %e, %f : tensor<f32>
    stablehlo.return %m, %n : tensor<bf16>, tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : (tensor<12xbf16>, tensor<12xf32>, tensor<bf16>, tensor<f32>) -> (tensor<12xbf16>, tensor<12xf32>)
  return %0#0, %0#1 : tensor<12xbf16>, tensor<12xf32>
}

// Products, too, from the end and beside sums.
// CHECK-LABEL: @narrow_product
func.func public @narrow_product(%x: tensor<12xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<12xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = stablehlo.constant dense<1.000000e+00> : tensor<f16>
  %d = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
  // CHECK: %[[W:.*]]:2 = "stablehlo.reduce_window"
  // CHECK-DAG: %[[P:.*]] = stablehlo.convert %[[W]]#0 : (tensor<3xf16>) -> tensor<3xf32>
  // CHECK-DAG: %[[F:.*]] = stablehlo.convert %[[W]]#1 : (tensor<3xbf16>) -> tensor<3xf32>
  // CHECK-NOT: tensor<1xbf16>
  // CHECK-NOT: tensor<1xf16>
  // CHECK: stablehlo.multiply %[[P]], %{{.*}} : tensor<3xf32>
  // CHECK: stablehlo.add %[[F]], %{{.*}} : tensor<3xf32>
  %0:2 = "stablehlo.reduce_window"(%x, %y, %c, %d) <{window_dimensions = array<i64: 12>, padding = dense<[[0, 11]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f16>, %e: tensor<bf16>, %b: tensor<f16>, %f: tensor<bf16>):
    %m = stablehlo.multiply %a, %b : tensor<f16>
    %n = stablehlo.add %e, %f : tensor<bf16>
    stablehlo.return %m, %n : tensor<f16>, tensor<bf16>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : (tensor<12xf16>, tensor<12xbf16>, tensor<f16>, tensor<bf16>) -> (tensor<12xf16>, tensor<12xbf16>)
  return %0#0, %0#1 : tensor<12xf16>, tensor<12xbf16>
}
