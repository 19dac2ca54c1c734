// What costs less to compute than to read is made again in the loop that reads it.
// RUN: tessera-opt %s --tessera-copy-cheap | FileCheck %s

// A broadcast comes with the constant that it is of; the sum, which is dear, stays outside.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[SUM:.*]] = stablehlo.add
// CHECK:         stablehlo.while
// CHECK:         } do {
// CHECK:           %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// CHECK:           %[[FILLED:.*]] = stablehlo.broadcast_in_dim %[[TWO]], dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK:           %[[SCALED:.*]] = stablehlo.multiply %{{.*}}, %[[FILLED]]
// CHECK:           stablehlo.add %[[SCALED]], %[[SUM]]
func.func @loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %c = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %s = stablehlo.add %x, %x : tensor<8xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.multiply %v, %c : tensor<8xf32>
    %t = stablehlo.add %w, %s : tensor<8xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}
