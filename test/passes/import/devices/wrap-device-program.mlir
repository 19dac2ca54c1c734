// RUN: tessera-opt %s --tessera-wrap-device-program --split-input-file | FileCheck %s

// What each device has becomes an entry of a new first dimension; replicas are major.

// CHECK:       sdy.mesh @devices = <["replica"=2, "partition"=3]>
// CHECK-LABEL: func.func @main(%arg0: tensor<6x4xf32>) -> tensor<6x4xf32>
// CHECK:         sdy.manual_computation(%arg0) in_shardings=[<@devices, [{"replica", "partition"}, {}]>] out_shardings=[<@devices, [{"replica", "partition"}, {}]>] manual_axes={"replica", "partition"} (%[[X:.*]]: tensor<1x4xf32>)
// CHECK-NEXT:      %[[L:.*]] = stablehlo.reshape %[[X]] : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK:           "stablehlo.all_reduce"(%[[L]])
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 3 : i32} {
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// A module that does not say how many there are has as many as its tables name.

// CHECK:       sdy.mesh @devices = <["replica"=4]>
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 3]]> : tensor<1x2xi64>}> : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// With shardings the program is one of global values, and stays.

// CHECK-LABEL: func.func @main
// CHECK-NOT:     manual_computation
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}
