// RUN: tessera-opt %s --tessera-loop-over-reduce | FileCheck %s

// A loop in the computation: the columns are taken one after the other, in their order, and begin from the initial value.

// CHECK-LABEL: func.func @shifts
// CHECK:         %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
// CHECK:         %[[X:.*]] = stablehlo.convert %{{.*}} : (tensor<3x2xi8>) -> tensor<3x2xi32>
// CHECK:         %[[Z:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<i32>) -> tensor<2xi32>
// CHECK:         %[[W:.*]]:2 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[C:.*]] = %[[Z]])
// CHECK:           %[[S:.*]] = stablehlo.dynamic_slice %[[X]], %[[I]], %{{.*}}, sizes = [1, 2]
// CHECK:           %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<1x2xi32>) -> tensor<2xi32>
// CHECK:           "stablehlo.map"(%[[C]], %[[R]])
// CHECK:             stablehlo.while
// CHECK:         stablehlo.reshape %[[W]]#1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>}
// The second reduction stays.
// CHECK:         stablehlo.reduce
sdy.mesh @m = <["x"=2]>
func.func @shifts(%x: tensor<2x3xi8>, %z: tensor<i8>) -> (tensor<2xi32>, tensor<2xi8>) {
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %w:2 = stablehlo.while(%u = %a, %v = %b) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %p = stablehlo.compare GT, %v, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %s = stablehlo.add %u, %c : tensor<i32>
      %t = stablehlo.shift_right_logical %v, %c : tensor<i32>
      stablehlo.return %s, %t : tensor<i32>, tensor<i32>
    }
    stablehlo.return %w#0 : tensor<i32>
  }) {dimensions = array<i64: 1>, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi32>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi8>
  return %0, %1 : tensor<2xi32>, tensor<2xi8>
}
