// RUN: tessera-opt %s --tessera-loop-over-map | FileCheck %s

// A computation that is not elementwise (here it branches) runs element by element.

// CHECK-LABEL: func.func @branches
// CHECK:         %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK:         %[[W:.*]]:3 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[A:.*]] = %[[X]], %[[R:.*]] = %{{.*}})
// CHECK:           stablehlo.dynamic_slice %[[A]], %[[I]], sizes = [1]
// CHECK:           "stablehlo.if"
// CHECK:           stablehlo.dynamic_update_slice %[[R]], %{{.*}}, %[[I]]
// CHECK:         stablehlo.reshape %[[W]]#2 : (tensor<6xf32>) -> tensor<2x3xf32>
func.func @branches(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.compare LT, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r = "stablehlo.if"(%p) ({
      %n = stablehlo.negate %a : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }, {
      stablehlo.return %a : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
