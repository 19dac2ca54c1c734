// After propagation everything is closed and said. Wrong would be: a value without a sharding, or two that disagree
// without a reshard between them.
// RUN: tessera-opt %s --tessera-finalize-shardings --split-input-file --verify-diagnostics | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: @main
// CHECK-SAME: %[[A:.*]]: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}
// CHECK-SAME: -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
func.func @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x", ?}, {?}]>})
    -> (tensor<6x8xf32>, tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}]>}) {
  // CHECK: %[[T:.*]] = stablehlo.tanh %[[A]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", "x"}, {}]>]>}
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", "x", ?}p1, {?}]>]>} : tensor<6x8xf32>
  // CHECK: %[[R:.*]] = sdy.reshard %[[T]] <@mesh, [{"x"}, {}]> : tensor<6x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?}]> : tensor<6x8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<6x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<6x8xf32>
  // CHECK-NEXT: %[[U:.*]] = stablehlo.tanh %[[R]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  %3 = stablehlo.tanh %2 : tensor<6x8xf32>
  // A constraint that the value satisfies leaves nothing.
  %4 = sdy.sharding_constraint %0 <@mesh, [{"y", "x"}, {}]> : tensor<6x8xf32>
  // CHECK-NEXT: return %[[U]], %[[T]]
  return %3, %4 : tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// A value placed on one device is repeated on all.
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @maximal = <[], device_ids=[1]>
// CHECK-LABEL: @main
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.tanh %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  // expected-warning @+1 {{a value that is to be on device 1 alone is repeated on all}}
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A program without a mesh runs on a mesh of one device.
// CHECK: sdy.mesh @mesh = <["device"=1]>
// CHECK: @main(%{{.*}}: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

// A program takes whole values: an argument becomes unreduced behind its boundary. Wrong would be to pass it whole to devices
// whose values are then summed.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @unreduced
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func @unreduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // CHECK: sdy.reshard %arg0 <@mesh, [{}], unreduced={"x"}>
  %0 = sdy.sharding_constraint %a <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Free axes split each manual part evenly at the boundary, or stay inside: 2 rows over 2 x 2 devices are not 1 row of each "x" over "y".
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @manual
func.func @manual(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<1x4xf32>) {
    %1 = stablehlo.tanh %b : tensor<1x4xf32>
    sdy.return %1 : tensor<1x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
