// RUN: tessera-opt %s --tessera-loop-over-scan | FileCheck %s

// From the last column to the first; the sums so far are an output and the carry.

// CHECK-LABEL: func.func @reversed
// CHECK:         %[[W:.*]]:3 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK:           %[[AT:.*]] = stablehlo.subtract %{{.*}}, %[[I]]
// CHECK:           %[[S:.*]] = stablehlo.dynamic_slice %arg0, %{{.*}}, %[[AT]], sizes = [2, 1]
// CHECK:           %[[E:.*]] = stablehlo.reshape %[[S]] : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK:           %[[N:.*]] = stablehlo.add %[[E]], %[[C]]
// CHECK:           %[[NEXT:.*]] = stablehlo.dynamic_update_slice %[[Y]], %{{.*}}, %{{.*}}, %[[AT]]
// CHECK:           stablehlo.return %{{.*}}, %[[N]], %[[NEXT]]
// CHECK:         return %[[W]]#2, %[[W]]#1
func.func @reversed(%x: tensor<2x3xf32>, %zero: tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %0:2 = "chlo.scan"(%x, %zero) <{dimension = 1 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%e: tensor<2xf32>, %c: tensor<2xf32>):
    %n = stablehlo.add %e, %c : tensor<2xf32>
    stablehlo.return %n, %n : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2xf32>
}
