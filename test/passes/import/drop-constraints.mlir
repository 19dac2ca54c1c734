// RUN: tessera-opt %s --split-input-file --tessera-drop-constraints | FileCheck %s

// On one device a constraint says nothing.

// CHECK-LABEL: func.func @one_device
// CHECK-NOT:     sdy.sharding_constraint
// CHECK:         stablehlo.add %arg0, %arg0
sdy.mesh @mesh = <["x"=1, "y"=1]>
func.func @one_device(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// On several it does, also along an axis of size 1.

// CHECK-LABEL: func.func @two_devices
// CHECK:         sdy.sharding_constraint
sdy.mesh @mesh = <["x"=2, "y"=1]>
func.func @two_devices(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"y"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A computation on elements has no places: JAX writes constraints into the comparators of sorts within shard_map.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @comparator
func.func @comparator(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: sharding_constraint
  // CHECK: stablehlo.return
  // CHECK: sharding_constraint
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = sdy.sharding_constraint %a <@mesh, []> : tensor<f32>
    %2 = stablehlo.compare LT, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<4xf32>
  return %3 : tensor<4xf32>
}
