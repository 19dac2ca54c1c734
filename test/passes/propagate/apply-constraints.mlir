// A closed constraint is the sharding of its value. Wrong would be: axes added to the value that the constraint closes
// out, or a choice between two constraints that differ.
// RUN: tessera-opt %s --tessera-apply-constraints | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: @closed
func.func @closed(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: stablehlo.tanh %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: @open
func.func @open(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: stablehlo.tanh %{{[^ ]*}} : tensor<8x8xf32>
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: @two_minds
func.func @two_minds(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: stablehlo.tanh %{{[^ ]*}} : tensor<8x8xf32>
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"y"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A value of a loop is shared with its other rounds: only later uses in this one follow the constraint.
// CHECK-LABEL: @loop
func.func @loop(%a: tensor<8x8xf32>, %p: tensor<i1>) -> tensor<8x8xf32> {
  // CHECK-NEXT: stablehlo.while
  %0:2 = stablehlo.while(%b = %a, %q = %p) : tensor<8x8xf32>, tensor<i1>
  cond { stablehlo.return %q : tensor<i1> }
  do {
    // CHECK: %[[C:.*]] = sdy.sharding_constraint
    %1 = sdy.sharding_constraint %b <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    // CHECK-NEXT: stablehlo.add %[[C]], %[[C]] : tensor<8x8xf32>
    %2 = stablehlo.add %1, %b : tensor<8x8xf32>
    stablehlo.return %2, %q : tensor<8x8xf32>, tensor<i1>
  }
  return %0#0 : tensor<8x8xf32>
}
