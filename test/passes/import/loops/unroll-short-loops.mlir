// RUN: tessera-opt %s --tessera-mark-counted-loops --tessera-unroll-short-loops | FileCheck %s

// Trips follow one another; what a trip leaves as it is stays.

// CHECK-LABEL: func.func @swapped
// CHECK-NOT:     stablehlo.while
// CHECK:         %[[A:.*]] = stablehlo.add %arg0, %arg1
// CHECK:         %[[B:.*]] = stablehlo.add %arg1, %[[A]]
// CHECK:         %[[C:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK:         return %[[B]], %[[C]]
func.func @swapped(%x: tensor<6xui32>, %y: tensor<6xui32>) -> (tensor<6xui32>, tensor<6xui32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<6xui32>, tensor<6xui32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %a, %b : tensor<6xui32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %b, %1 : tensor<i32>, tensor<6xui32>, tensor<6xui32>
    }
  return %0#1, %0#2 : tensor<6xui32>, tensor<6xui32>
}

// CHECK-LABEL: func.func @no_trip
// CHECK-NOT:     stablehlo.while
// CHECK:         return %arg0
func.func @no_trip(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<6xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.negate %a : tensor<6xf32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<6xf32>
    }
  return %0#1 : tensor<6xf32>
}

// Sums stay in the loop, and so do many trips, and those that data ends.

// CHECK-LABEL: func.func @stay
// CHECK-COUNT-3: stablehlo.while
func.func @stay(%x: tensor<6x6xf32>, %n: tensor<i32>) -> (tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<6x6xf32>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %3 = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
      %4 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<6x6xf32>
    }
  %1:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<6x6xf32>
    cond {
      %nine = stablehlo.constant dense<9> : tensor<i32>
      %3 = stablehlo.compare LT, %i, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.sine %a : tensor<6x6xf32>
      %4 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<6x6xf32>
    }
  %2:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<6x6xf32>
    cond {
      %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.sine %a : tensor<6x6xf32>
      %4 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<6x6xf32>
    }
  return %0#1, %1#1, %2#1 : tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>
}
