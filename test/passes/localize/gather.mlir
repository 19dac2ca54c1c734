// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// A table sharded by rows: indices are clamped by the whole table, looked up where they are, zeros elsewhere, then summed.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%t: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<6x1xi32>) -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK-DAG: stablehlo.constant dense<9> : tensor<6x1xi32>
  // CHECK: stablehlo.clamp
  // CHECK: %[[R:.*]] = stablehlo.subtract
  // CHECK: %[[G:.*]] = "stablehlo.gather"(%arg0, %[[R]]) {{.*}}slice_sizes = array<i64: 1, 4>{{.*}} : (tensor<3x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  // CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %[[G]], %{{.*}} : tensor<6x4xi1>, tensor<6x4xf32>
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}], unreduced={"x"}>]>} : (tensor<10x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  // CHECK: comm.all_reduce sum(%[[S]]) over <@mesh, ["x"=4]>
  %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// A window of two rows may lie in two shards: each takes its row of it from its rows with two absent ones around them. Wrong would be
// indices that are clamped to the shard, which move the window.
// CHECK-LABEL: @windows
func.func public @windows(%t: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<6x1xi32>) -> (tensor<6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // CHECK-DAG: stablehlo.constant dense<8> : tensor<6x1xi32>
  // CHECK: %[[AT:.*]] = stablehlo.clamp
  // CHECK: %[[MINE:.*]] = stablehlo.constant dense<-2> : tensor<i32>
  // CHECK: stablehlo.add %{{.*}}, %[[MINE]]
  // CHECK: %[[R:.*]] = stablehlo.subtract %[[AT]], %{{.*}}
  // CHECK: %[[NONE:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
  // CHECK: %[[T:.*]] = stablehlo.pad %arg0, %[[NONE]], low = [2], high = [2], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
  // CHECK: %[[G:.*]] = "stablehlo.gather"(%[[T]], %[[R]])
  // CHECK-NOT: select
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<10xf32>, tensor<6x1xi32>) -> tensor<6x2xf32>
  // CHECK: comm.all_reduce sum(%[[G]]) over <@mesh, ["x"=4]>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<6x2xf32>
  return %1 : tensor<6x2xf32>
}

// Of parts of a maximum parts of a maximum are gathered: they are not summed.
// CHECK-LABEL: @parts
func.func public @parts(%x: tensor<8x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<2x1xi32>) -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, tessera.partial = #tessera.partial<max>} : (tensor<8x10xf32>, tensor<f32>) -> tensor<10xf32>
  // CHECK: %[[G:.*]] = "stablehlo.gather"
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, tessera.partial = #tessera.partial<max>} : (tensor<10xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  // CHECK: comm.all_reduce max(%[[G]]) over <@mesh, ["x"=4]>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<2xf32>
  return %2 : tensor<2xf32>
}
