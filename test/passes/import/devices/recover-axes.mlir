// RUN: tessera-opt %s --tessera-recover-axes --split-input-file --verify-diagnostics | FileCheck %s

// Tables of devices and arithmetic on partition_id become mesh axes.

sdy.mesh @mesh = <["data"=2, "model"=4]>

// CHECK-LABEL: func.func @indices
// CHECK-DAG:     comm.axis_index over <@mesh, ["model"=4]>
// CHECK-DAG:     comm.axis_index over <@mesh, ["data"=2]>
// CHECK-DAG:     comm.axis_index over <@mesh, ["data"=2, "model"=4]>
// CHECK-DAG:     comm.axis_index over <@mesh, ["model":(1)2]>
// CHECK-NOT:     partition_id
func.func @indices() -> (tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>) {
  %0:4 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}]>, <@mesh, [{"data", "model"}]>] manual_axes={"data", "model"} () {
    %two = stablehlo.constant dense<2> : tensor<ui32>
    %four = stablehlo.constant dense<4> : tensor<ui32>
    %id = stablehlo.partition_id : tensor<ui32>
    %model = stablehlo.remainder %id, %four : tensor<ui32>
    %data = stablehlo.divide %id, %four : tensor<ui32>
    %half = stablehlo.divide %id, %two : tensor<ui32>
    %part = stablehlo.remainder %half, %two : tensor<ui32>
    %1 = stablehlo.reshape %model : (tensor<ui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %data : (tensor<ui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %id : (tensor<ui32>) -> tensor<1xui32>
    %4 = stablehlo.reshape %part : (tensor<ui32>) -> tensor<1xui32>
    sdy.return %1, %2, %3, %4 : tensor<1xui32>, tensor<1xui32>, tensor<1xui32>, tensor<1xui32>
  } : () -> (tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>
}

// CHECK-LABEL: func.func @collectives
// CHECK:         comm.all_reduce sum(%{{.*}}) over <@mesh, ["data"=2]>
// CHECK:         comm.all_gather(%{{.*}}) dim 0 over <@mesh, ["model"=4]>
// CHECK:         comm.reduce_scatter max(%{{.*}}) dim 0 over <@mesh, ["data"=2, "model"=4]>
// CHECK:         comm.all_to_all(%{{.*}}) split 0 concat 0 over <@mesh, ["model"=4]>
func.func @collectives(%x: tensor<64xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data", "model"}]>] out_shardings=[<@mesh, [{"data", "model"}]>] manual_axes={"data", "model"} (%a: tensor<8xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<8xf32>) -> tensor<32xf32>
    %3 = "stablehlo.reduce_scatter"(%2) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.maximum %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<32xf32>) -> tensor<4xf32>
    %4 = "stablehlo.all_to_all"(%3) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %5 = stablehlo.slice %4 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    sdy.return %5 : tensor<1xf32>
  } : (tensor<64xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Without pairs, everyone has zeros: complex ones too.

// CHECK-LABEL: func.func @no_pairs
// CHECK:         stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<1xcomplex<f32>>
func.func @no_pairs(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data", "model"}]>] out_shardings=[<@mesh, [{"data", "model"}]>] manual_axes={"data", "model"} (%a: tensor<1xcomplex<f32>>) {
    %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>>
    sdy.return %1 : tensor<1xcomplex<f32>>
  } : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// A ring along one axis is a shift; backwards by its distance; an open chain does not wrap; else a table of ranks.

// CHECK-LABEL: func.func @permutations
// CHECK:         comm.shift(%{{.*}}) by 1 wrap over <@mesh, ["model"=4]>
// CHECK:         comm.shift(%{{.*}}) by -1 wrap over <@mesh, ["model"=4]>
// CHECK:         comm.shift(%{{.*}}) by 1 over <@mesh, ["data"=2]>
// CHECK:         comm.permute(%{{.*}}) pairs [0, 1, 1, 0, 2, 3, 3, 2] over <@mesh, ["model"=4]>
// CHECK:         comm.permute(%{{.*}}) pairs [0, 3] over <@mesh, ["data"=2, "model"=4]>
func.func @permutations(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data", "model"}]>] out_shardings=[<@mesh, [{"data", "model"}]>] manual_axes={"data", "model"} (%a: tensor<1xf32>) {
    %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]> : tensor<8x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    %2 = "stablehlo.collective_permute"(%1) <{source_target_pairs = dense<[[0, 3], [1, 0], [2, 1], [3, 2], [4, 7], [5, 4], [6, 5], [7, 6]]> : tensor<8x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    %3 = "stablehlo.collective_permute"(%2) <{source_target_pairs = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    %4 = "stablehlo.collective_permute"(%3) <{source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2], [4, 5], [5, 4], [6, 7], [7, 6]]> : tensor<8x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    %5 = "stablehlo.collective_permute"(%4) <{source_target_pairs = dense<[[0, 3]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    sdy.return %5 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=6]>

// Groups that no axes have are taken from what all devices around them hold; each device finds its
// group's members and its own place among them in a table by its position.

// CHECK-LABEL: func.func @no_axes
// CHECK:         %[[ALL:.*]] = comm.all_gather(%{{.*}}) dim 0 over <@mesh, ["x"=6]> : (tensor<1x1xf32>) -> tensor<6x1xf32>
// CHECK:         stablehlo.constant dense<{{\[\[}}0, 1, 3], [0, 1, 3], [2, 4, 5], [0, 1, 3], [2, 4, 5], [2, 4, 5]]> : tensor<6x3xi32>
// CHECK:         "stablehlo.gather"(%[[ALL]]
// CHECK:         stablehlo.reduce
func.func @no_axes(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xf32>) {
    // expected-remark@+1 {{has replica groups that are no axes of the mesh: every device receives the operands of all 6 devices around its group}}
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1, 3], [2, 4, 5]]> : tensor<2x3xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1xf32>) -> tensor<1xf32>
    sdy.return %1 : tensor<1xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// A reduction that no collective knows.

// CHECK-LABEL: func.func @any_region
// CHECK:         comm.all_gather
// CHECK:         stablehlo.reduce
func.func @any_region(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xi32>) {
    // expected-remark@+1 {{reduces by a region of its own}}
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %s = stablehlo.xor %l, %r : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<1xi32>) -> tensor<1xi32>
    sdy.return %1 : tensor<1xi32>
  } : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// One member of a group has the sum; a member that only the run knows sends.

// CHECK-LABEL: func.func @roots
// CHECK:         %[[SUM:.*]] = comm.all_reduce sum(%{{.*}}) over <@mesh, ["x"=4]>
// CHECK:         %[[RANK:.*]] = comm.axis_index over <@mesh, ["x"=4]>
// CHECK:         %[[ROOT:.*]] = stablehlo.compare EQ, %[[RANK]]
// CHECK:         stablehlo.select %[[ROOT]], %[[SUM]]
// CHECK:         comm.all_gather
// CHECK:         stablehlo.dynamic_slice
func.func @roots(%x: tensor<4xf32>, %root: tensor<1xi32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x, %root) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xf32>, %r: tensor<1xi32>) {
    %1 = "stablehlo.collective_reduce"(%a) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1xf32>) -> tensor<1xf32>
    // expected-remark@+1 {{has roots that only the run knows}}
    %2 = "stablehlo.collective_broadcast"(%1, %r) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, has_dynamic_root}> : (tensor<1xf32>, tensor<1xi32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=1, "y"=2]>

// JAX leaves out the manual computation around axes of one device: each device is a group of its own.

// CHECK-LABEL: func.func @axes_of_one_device
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK:         %[[NOTHING:.*]] = stablehlo.constant dense<0.000000e+00>
// CHECK:         stablehlo.add %[[X]], %[[NOTHING]]
func.func @axes_of_one_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.collective_permute"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.collective_permute"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.add %1, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @unknown_device(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xf32>) {
    // expected-error@+1 {{device 2 is not one of the 2 of mesh @mesh; mend replica_groups}}
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<1xf32>) -> tensor<2xf32>
    %2 = stablehlo.slice %1 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
