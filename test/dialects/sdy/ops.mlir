// Every op prints as Shardy's tools write it, with attributes that nobody knows kept.
// RUN: tessera-opt %s --allow-unregistered-dialect | tessera-opt --allow-unregistered-dialect | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=8, "z"=4]>

// CHECK-LABEL: @values
func.func @values(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}, {?}]> {some.note = 1 : i32} : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}]> {some.note = 1 : i32} : tensor<8x8xf32>
  // CHECK: sdy.reshard %{{.*}} <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK: sdy.sharding_group %{{.*}} group_id=21 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=21 : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction=FORWARD : tensor<8x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<8x8xf32>
  %o = stablehlo.negate %2 : tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %3 = sdy.data_flow_edge %o sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{[^ ]*}} : tensor<8x8xf32>
  %p = stablehlo.negate %3 : tensor<8x8xf32>
  %4 = sdy.data_flow_edge %p : tensor<8x8xf32>
  // CHECK: sdy.constant {some.note} dense<1.000000e+00> : tensor<8x8xf32>
  %5 = sdy.constant {some.note} dense<1.0> : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// CHECK-LABEL: @computations
func.func @computations(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.named_computation<"f">(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] (%[[ARG:.*]]: tensor<8x8xf32>) {
  // CHECK-NEXT: sdy.return %[[ARG]] : tensor<8x8xf32>
  // CHECK-NEXT: } {some.note = 1 : i32} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] (%arg: tensor<8x8xf32>) {
    sdy.return %arg : tensor<8x8xf32>
  } {some.note = 1 : i32} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.named_computation<"g">() () {
  %1 = sdy.named_computation<"g">() () {
    %c = sdy.constant dense<1.0> : tensor<8x8xf32>
    sdy.return %c : tensor<8x8xf32>
  } : () -> tensor<8x8xf32>
  // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}], replicated={"y", "z"}>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%{{.*}}: tensor<4x8xf32>) {
  %2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}], replicated={"y", "z"}>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%arg: tensor<4x8xf32>) {
    sdy.return %arg : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
  // CHECK-NEXT: sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () { sdy.return } : () -> ()
  return %2 : tensor<8x8xf32>
}
