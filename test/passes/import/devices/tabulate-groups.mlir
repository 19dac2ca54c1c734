// Groups given by mesh axes become the table of their devices: row-major over the mesh, the last axis minor.
// RUN: not tessera-opt %s --split-input-file --tessera-tabulate-groups 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR --input-file=%t.err

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: collective_broadcast{{.*}}dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4xf32>) -> tensor<4xf32>
  // A part of an axis: the major two of y.
  // CHECK: collective_broadcast{{.*}}dense<{{\[\[}}0, 2], [1, 3], [4, 6], [5, 7]]>
  %1 = "stablehlo.collective_broadcast"(%0) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>}> : (tensor<4xf32>) -> tensor<4xf32>
  // Devices in an order of their own.
  // CHECK: collective_broadcast{{.*}}dense<{{\[\[}}3, 1], [2, 0]]>
  %2 = "stablehlo.collective_broadcast"(%1) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>, <name = "b", size = 2>], device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "a">]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// -----
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // ERROR: error: names mesh @absent, which the module lacks
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @absent, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // ERROR: error: has replica_groups in which (0)2 is no part of axis "y" of size 4
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (0)2>]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
