// Collectives on global values: each must turn the operand's sharding into its `out_sharding`.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=8, "z"=4]>

// CHECK-LABEL: @chain
func.func @chain(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<8x8x4xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.all_gather [{"x"}, {"y":(2)4}] %{{.*}} out_sharding=<@mesh, [{}, {"y":(1)2}]> : tensor<8x8xf32>
  %0 = sdy.all_gather [{"x"}, {"y":(2)4}] %a out_sharding=<@mesh, [{}, {"y":(1)2}]> : tensor<8x8xf32>
  // CHECK: sdy.all_slice [{"x"}, {}] %{{.*}} out_sharding=<@mesh, [{"x"}, {"y":(1)2}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {"y":(1)2}]> : tensor<8x8xf32>
  // CHECK: sdy.all_to_all [{"x"}: 0->1] %{{.*}} out_sharding=<@mesh, [{}, {"y":(1)2, "x"}]> : tensor<8x8xf32>
  %2 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"y":(1)2, "x"}]> : tensor<8x8xf32>
  // CHECK: sdy.collective_permute %{{.*}} out_sharding=<@mesh, [{}, {"x", "y":(1)2}]> : tensor<8x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{}, {"x", "y":(1)2}]> : tensor<8x8xf32>
  // CHECK: sdy.replicated_to_unreduced {"z"} %{{.*}} out_sharding=<@mesh, [{}, {"x", "y":(1)2}], unreduced={"z"}> : tensor<8x8xf32>
  %4 = sdy.replicated_to_unreduced {"z"} %3 out_sharding=<@mesh, [{}, {"x", "y":(1)2}], unreduced={"z"}> : tensor<8x8xf32>
  // CHECK: sdy.all_reduce {"z"} %{{.*}} out_sharding=<@mesh, [{}, {"x", "y":(1)2}]> : tensor<8x8xf32>
  %5 = sdy.all_reduce {"z"} %4 out_sharding=<@mesh, [{}, {"x", "y":(1)2}]> : tensor<8x8xf32>
  // CHECK: stablehlo.reduce{{.*}}<@mesh, [{}, {"x", "y":(1)2}], unreduced=max{"z"}>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%b init: %init) applies stablehlo.maximum across dimensions = [2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x", "y":(1)2}], unreduced=max{"z"}>]>} : (tensor<8x8x4xf32>, tensor<f32>) -> tensor<8x8xf32>
  // CHECK: sdy.reduce_scatter max [{"z"}, {}] %{{.*}} out_sharding=<@mesh, [{"z"}, {"x", "y":(1)2}]> : tensor<8x8xf32>
  %7 = sdy.reduce_scatter max [{"z"}, {}] %6 out_sharding=<@mesh, [{"z"}, {"x", "y":(1)2}]> : tensor<8x8xf32>
  // CHECK: sdy.sharded_to_unreduced [{"z"}, {}] %{{.*}} out_sharding=<@mesh, [{}, {"x", "y":(1)2}], unreduced={"z"}> : tensor<8x8xf32>
  %8 = sdy.sharded_to_unreduced [{"z"}, {}] %7 out_sharding=<@mesh, [{}, {"x", "y":(1)2}], unreduced={"z"}> : tensor<8x8xf32>
  return %8 : tensor<8x8xf32>
}

// What an operand is unreduced by stays what it is, along the axes that a collective leaves.
// CHECK-LABEL: @kinds
func.func @kinds(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced=min{"y", "z"}>}) -> tensor<8x8xf32> {
  // CHECK: sdy.all_gather [{"x"}, {}] %{{.*}} out_sharding=<@mesh, [{}, {}], unreduced=min{"y", "z"}> : tensor<8x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced=min{"y", "z"}> : tensor<8x8xf32>
  // CHECK: sdy.all_reduce min {"y":(2)4} %{{.*}} out_sharding=<@mesh, [{}, {}], unreduced=min{"y":(1)2, "z"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce min {"y":(2)4} %0 out_sharding=<@mesh, [{}, {}], unreduced=min{"y":(1)2, "z"}> : tensor<8x8xf32>
  // CHECK: sdy.reduce_scatter min [{"z"}, {}] %{{.*}} out_sharding=<@mesh, [{"z"}, {}], unreduced=min{"y":(1)2}> : tensor<8x8xf32>
  %2 = sdy.reduce_scatter min [{"z"}, {}] %1 out_sharding=<@mesh, [{"z"}, {}], unreduced=min{"y":(1)2}> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// StableHLO's own collectives name a mesh and its axes, too.
// CHECK-LABEL: @of_stablehlo
func.func @of_stablehlo(%arg0: tensor<4xf32>) {
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}
