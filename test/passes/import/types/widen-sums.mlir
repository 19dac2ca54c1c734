// RUN: tessera-opt %s --tessera-widen-sums | FileCheck %s
// Sums of floats of 8 bits and fewer are rounded once: parts of them on several devices may overflow when the sum does not.

sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @contraction
func.func @contraction(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN> {
  // CHECK: %[[S:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}} -> tensor<4x4xf32>
  // CHECK: %[[R:.*]] = stablehlo.convert %[[S]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
  // CHECK: return %[[R]]
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
  return %0 : tensor<4x4xf8E4M3FN>
}

// Of two results only the sum.
// CHECK-LABEL: @sum_and_maximum
func.func @sum_and_maximum(%x: tensor<6xf4E2M1FN>, %s: tensor<f4E2M1FN>) -> (tensor<f4E2M1FN>, tensor<f4E2M1FN>) {
  // CHECK-DAG: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<6xf4E2M1FN>) -> tensor<6xf32>
  // CHECK-DAG: %[[I:.*]] = stablehlo.convert %arg1 : (tensor<f4E2M1FN>) -> tensor<f32>
  // CHECK: %[[R:.*]]:2 = stablehlo.reduce(%[[X]] init: %[[I]]), (%arg0 init: %arg1)
  // CHECK: stablehlo.add {{.*}} : tensor<f32>
  // CHECK: stablehlo.maximum {{.*}} : tensor<f4E2M1FN>
  // CHECK: %[[SUM:.*]] = stablehlo.convert %[[R]]#0 : (tensor<f32>) -> tensor<f4E2M1FN>
  // CHECK: return %[[SUM]], %[[R]]#1
  %0:2 = stablehlo.reduce(%x init: %s), (%x init: %s) across dimensions = [0]
      : (tensor<6xf4E2M1FN>, tensor<6xf4E2M1FN>, tensor<f4E2M1FN>, tensor<f4E2M1FN>) -> (tensor<f4E2M1FN>, tensor<f4E2M1FN>)
    reducer(%a: tensor<f4E2M1FN>, %b: tensor<f4E2M1FN>) (%c: tensor<f4E2M1FN>, %d: tensor<f4E2M1FN>) {
    %1 = stablehlo.add %a, %b : tensor<f4E2M1FN>
    %2 = stablehlo.maximum %c, %d : tensor<f4E2M1FN>
    stablehlo.return %1, %2 : tensor<f4E2M1FN>, tensor<f4E2M1FN>
  }
  return %0#0, %0#1 : tensor<f4E2M1FN>, tensor<f4E2M1FN>
}

// 16 bits, extrema, and what is annotated as partial stay.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<6xf16>, %y: tensor<6xf8E5M2>, %s: tensor<f16>, %t: tensor<f8E5M2>) -> (tensor<f16>, tensor<f8E5M2>, tensor<f8E5M2>) {
  // CHECK-NOT: stablehlo.convert
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<6xf16>, tensor<f16>) -> tensor<f16>
  %1 = stablehlo.reduce(%y init: %t) applies stablehlo.maximum across dimensions = [0] : (tensor<6xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  %2 = stablehlo.reduce(%y init: %t) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<6xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  return %0, %1, %2 : tensor<f16>, tensor<f8E5M2>, tensor<f8E5M2>
}
