// Sorts go along the innermost dimension, and by one number after the other, the one that decides first last.
// RUN: tessera-opt %s --tessera-simplify-sorts | FileCheck %s

// CHECK-LABEL: func.func @two_keys
// CHECK: %[[A:.*]]:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}>
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>, %[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>):
// CHECK-NEXT: %[[L:.*]] = stablehlo.compare LT, %[[X]], %[[Y]], TOTALORDER
// CHECK-NEXT: stablehlo.return %[[L]]
// CHECK: %[[B:.*]]:2 = "stablehlo.sort"(%[[A]]#0, %[[A]]#1) <{dimension = 1 : i64, is_stable = true}>
// CHECK: ^bb0(%[[X:.*]]: tensor<i32>, %[[Y:.*]]: tensor<i32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %[[L:.*]] = stablehlo.compare LT, %[[X]], %[[Y]], SIGNED
// CHECK: return %[[B]]#0, %[[B]]#1
func.func @two_keys(%k: tensor<8x20xi32>, %a: tensor<8x20xf32>) -> (tensor<8x20xi32>, tensor<8x20xf32>) {
  %0:2 = "stablehlo.sort"(%k, %a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<f32>, %v: tensor<f32>):
    %1 = stablehlo.compare LT, %u, %v, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.compare EQ, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.and %3, %1 : tensor<i1>
    %5 = stablehlo.or %2, %4 : tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<8x20xi32>, tensor<8x20xf32>) -> (tensor<8x20xi32>, tensor<8x20xf32>)
  return %0#0, %0#1 : tensor<8x20xi32>, tensor<8x20xf32>
}

// NaN is equal to NaN where they are ordered, and is not where they are compared: that is no order by two numbers.
// CHECK-LABEL: func.func @another_equality
// CHECK: stablehlo.or
func.func @another_equality(%k: tensor<20xf32>, %a: tensor<20xi32>) -> tensor<20xi32> {
  %0:2 = "stablehlo.sort"(%k, %a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %u: tensor<i32>, %v: tensor<i32>):
    %1 = stablehlo.compare LT, %u, %v, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.and %3, %1 : tensor<i1>
    %5 = stablehlo.or %2, %4 : tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<20xf32>, tensor<20xi32>) -> (tensor<20xf32>, tensor<20xi32>)
  return %0#1 : tensor<20xi32>
}

// CHECK-LABEL: func.func @columns
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<3x100x64xf32>) -> tensor<3x64x100xf32>
// CHECK: %[[S:.*]] = "stablehlo.sort"(%[[T]]) <{dimension = 2 : i64, is_stable = true}>
// CHECK: %[[R:.*]] = stablehlo.transpose %[[S]], dims = [0, 2, 1] : (tensor<3x64x100xf32>) -> tensor<3x100x64xf32>
// CHECK: return %[[R]]
func.func @columns(%a: tensor<3x100x64xf32>) -> tensor<3x100x64xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = -2 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3x100x64xf32>) -> tensor<3x100x64xf32>
  return %0 : tensor<3x100x64xf32>
}

// Of small arrays, and where the first rows are wanted alone, rows are read as they lie.
// CHECK-LABEL: func.func @as_they_lie
// CHECK-NOT: transpose
func.func @as_they_lie(%a: tensor<100x64xf32>, %b: tensor<5000x64xf32>) -> (tensor<100x64xf32>, tensor<4x64xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %3 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<100x64xf32>) -> tensor<100x64xf32>
  %1 = "stablehlo.sort"(%b) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %3 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<5000x64xf32>) -> tensor<5000x64xf32>
  %2 = stablehlo.slice %1 [0:4, 0:64] : (tensor<5000x64xf32>) -> tensor<4x64xf32>
  return %0, %2 : tensor<100x64xf32>, tensor<4x64xf32>
}
