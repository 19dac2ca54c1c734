// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// Rows of a sharded operand: indices are taken relative to the shard, and those outside are dropped by the op itself.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%t: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<6x1xi32>, %u: tensor<6x8xf32>) -> (tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-DAG: stablehlo.constant dense<-1> : tensor<6x1xi32>
  // CHECK-DAG: stablehlo.constant dense<10> : tensor<6x1xi32>
  // CHECK: stablehlo.clamp
  // CHECK: %[[R:.*]] = stablehlo.subtract
  // CHECK: "stablehlo.scatter"(%arg0, %[[R]], %arg2)
  // CHECK: (tensor<3x8xf32>, tensor<6x1xi32>, tensor<6x8xf32>) -> tensor<3x8xf32>
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<10x8xf32>, tensor<6x1xi32>, tensor<6x8xf32>) -> tensor<10x8xf32>
  return %0 : tensor<10x8xf32>
}

// Windows of three rows that may lie partly outside: index vectors of rows past the end point before all of a window's rows, not one before.
// CHECK-LABEL: @windows
func.func public @windows(%t: tensor<10xf32>, %i: tensor<7x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<7x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<10xf32> {
  // CHECK-DAG: stablehlo.constant dense<-3> : tensor<2x1xi32>
  // CHECK: stablehlo.clamp
  // CHECK: stablehlo.select
  // CHECK: "stablehlo.scatter"
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, tessera.partial = #tessera.partial<max>} : (tensor<10xf32>, tensor<7x1xi32>, tensor<7x3xf32>) -> tensor<10xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<10xf32>
  return %1 : tensor<10xf32>
}

// Rows of a window that lie in another shard are dropped here as any outside of the operand, and written there.
// CHECK-LABEL: @windows_across_shards
func.func public @windows_across_shards(%t: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<7x1xi32>, %u: tensor<7x3xf32>) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-DAG: stablehlo.constant dense<-3> : tensor<7x1xi32>
  // CHECK-DAG: stablehlo.constant dense<10> : tensor<7x1xi32>
  // CHECK: %[[AT:.*]] = stablehlo.clamp
  // CHECK: %[[R:.*]] = stablehlo.subtract %[[AT]]
  // CHECK: "stablehlo.scatter"(%arg0, %[[R]], %arg2)
  // CHECK-NOT: comm.
  // CHECK: return
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<10xf32>, tensor<7x1xi32>, tensor<7x3xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// A window longer than a shard needs room in it.
// CHECK-LABEL: @windows_longer_than_shards
func.func public @windows_longer_than_shards(%t: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<7x1xi32>, %u: tensor<7x5xf32>) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[ROOM:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [0], high = [2], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  // CHECK: %[[S:.*]] = "stablehlo.scatter"(%[[ROOM]]
  // CHECK: stablehlo.slice %[[S]] [0:3]
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<10xf32>, tensor<7x1xi32>, tensor<7x5xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}
