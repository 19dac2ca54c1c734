// A loop that goes back computes cheap functions of what it reads anyway. Guards against values of another slot,
// against expensive functions, and against what another array takes part in.
// RUN: tessera-opt %s --tessera-drop-function-stacks | FileCheck %s

// CHECK-LABEL: func.func @functions
// CHECK: %[[FORWARD:.*]]:5 = stablehlo.while
// CHECK: stablehlo.while
// CHECK: %[[Y:.*]] = stablehlo.dynamic_slice %[[FORWARD]]#2
// CHECK: stablehlo.dynamic_slice %[[FORWARD]]#3
// CHECK: stablehlo.dynamic_slice %[[FORWARD]]#4
// CHECK: %[[VIEW:.*]] = stablehlo.reshape %[[Y]]
// CHECK: stablehlo.subtract %{{.*}}, %[[VIEW]]
// CHECK: return
func.func @functions(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %ones = stablehlo.constant dense<1.0> : tensor<8xf32>
  %stack = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %f:6 = stablehlo.while(%i = %zero, %h = %x, %s0 = %stack, %s1 = %stack, %s2 = %stack, %s3 = %stack) : tensor<i32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = stablehlo.tanh %h : tensor<8xf32>
    %d = stablehlo.subtract %ones, %y : tensor<8xf32>
    %e = stablehlo.exponential %y : tensor<8xf32>
    %m = stablehlo.multiply %y, %w : tensor<8xf32>
    %y1 = stablehlo.reshape %y : (tensor<8xf32>) -> tensor<1x8xf32>
    %d1 = stablehlo.reshape %d : (tensor<8xf32>) -> tensor<1x8xf32>
    %e1 = stablehlo.reshape %e : (tensor<8xf32>) -> tensor<1x8xf32>
    %m1 = stablehlo.reshape %m : (tensor<8xf32>) -> tensor<1x8xf32>
    %t0 = stablehlo.dynamic_update_slice %s0, %y1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %t1 = stablehlo.dynamic_update_slice %s1, %d1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %t2 = stablehlo.dynamic_update_slice %s2, %e1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %t3 = stablehlo.dynamic_update_slice %s3, %m1, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %y, %t0, %t1, %t2, %t3 : tensor<i32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  %two = stablehlo.constant dense<2> : tensor<i32>
  %g:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %two, %i : tensor<i32>
    %y1 = stablehlo.dynamic_slice %f#2, %j, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %d1 = stablehlo.dynamic_slice %f#3, %j, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %e1 = stablehlo.dynamic_slice %f#4, %j, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %m1 = stablehlo.dynamic_slice %f#5, %j, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %a = stablehlo.multiply %y1, %d1 : tensor<1x8xf32>
    %b = stablehlo.add %e1, %m1 : tensor<1x8xf32>
    %c = stablehlo.add %a, %b : tensor<1x8xf32>
    %r = stablehlo.reshape %c : (tensor<1x8xf32>) -> tensor<8xf32>
    %s = stablehlo.add %h, %r : tensor<8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %s : tensor<i32>, tensor<8xf32>
  }
  return %g#1 : tensor<8xf32>
}
