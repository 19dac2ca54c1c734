// RUN: tessera-opt %s --tessera-separate-starts --canonicalize | FileCheck %s
// A running sum takes its start once for each place of a window outside of the array, and once more: as often as the window reaches
// back. Wrong would be once for all, or the start in every part of the rows.

// CHECK-LABEL: @argument
func.func @argument(%x: tensor<6x3xf32>, %s: tensor<f32>) -> tensor<6x3xf32> {
  // CHECK-DAG: %[[NONE:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: %[[ROWS:.*]] = "stablehlo.reduce_window"(%arg0, %[[NONE]])
  // CHECK: %[[AT:.*]] = stablehlo.iota dim = 0 : tensor<6xi64>
  // CHECK: %[[TIMES:.*]] = stablehlo.subtract %{{.*}}, %[[AT]]
  // CHECK: stablehlo.and %[[TIMES]], %{{.*}}
  // CHECK: %[[ONCE:.*]] = stablehlo.select
  // CHECK: %[[TWO:.*]] = stablehlo.add %arg1, %arg1
  // CHECK: %[[TWICE:.*]] = stablehlo.select
  // CHECK: stablehlo.add %[[ONCE]], %[[TWICE]] : tensor<6xf32>
  // CHECK: stablehlo.add %[[TWO]], %[[TWO]] : tensor<f32>
  // CHECK: %[[STARTS:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<6xf32>) -> tensor<6x3xf32>
  // CHECK: %[[ALL:.*]] = stablehlo.add %[[STARTS]], %[[ROWS]]
  // CHECK: return %[[ALL]]
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 6, 1>, padding = dense<[[5, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<6x3xf32>, tensor<f32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}

// In f32, rounded once; from the last element on, element i takes it i + 1 times.
// CHECK-LABEL: @narrow_product
func.func @narrow_product(%x: tensor<3xbf16>) -> tensor<3xbf16> {
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<3xbf16>) -> tensor<3xf32>
  // CHECK: %[[ROWS:.*]] = "stablehlo.reduce_window"(%[[X]], %{{.*}})
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<f32>
  // CHECK: (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK: %[[AT:.*]] = stablehlo.iota
  // CHECK: stablehlo.add %[[AT]]
  // CHECK: %[[ALL:.*]] = stablehlo.multiply %{{.*}}, %[[ROWS]] : tensor<3xf32>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.convert %[[ALL]] : (tensor<3xf32>) -> tensor<3xbf16>
  // CHECK-NEXT: return %[[R]]
  %s = stablehlo.constant dense<3.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 3>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %m = stablehlo.multiply %a, %b : tensor<bf16>
    stablehlo.return %m : tensor<bf16>
  }) : (tensor<3xbf16>, tensor<bf16>) -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// Of two results at once the maximum's start may be taken any number of times.
// CHECK-LABEL: @sum_and_maximum
func.func @sum_and_maximum(%x: tensor<3xi32>, %s: tensor<i32>) -> (tensor<3xi32>, tensor<3xi32>) {
  // CHECK: %[[NONE:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: "stablehlo.reduce_window"(%arg0, %arg0, %[[NONE]], %arg1)
  %0:2 = "stablehlo.reduce_window"(%x, %x, %s, %s) <{window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %m = stablehlo.add %a, %c : tensor<i32>
    %n = stablehlo.maximum %b, %d : tensor<i32>
    stablehlo.return %m, %n : tensor<i32>, tensor<i32>
  }) : (tensor<3xi32>, tensor<3xi32>, tensor<i32>, tensor<i32>) -> (tensor<3xi32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xi32>, tensor<3xi32>
}

// What changes nothing stays, as do windows that are no running ones.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<6xi32>, %s: tensor<i32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<4xi32>) {
  // CHECK-COUNT-3: "stablehlo.reduce_window"(%arg0,
  // CHECK-NOT: iota
  // CHECK: return
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 6>, padding = dense<[[5, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.xor %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) : (tensor<6xi32>, tensor<i32>) -> tensor<6xi32>
  %1 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 6>, padding = dense<[[5, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) : (tensor<6xi32>, tensor<i32>) -> tensor<6xi32>
  %2 = "stablehlo.reduce_window"(%x, %s) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) : (tensor<6xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<6xi32>, tensor<6xi32>, tensor<4xi32>
}

// A reduction by a computation of its own takes its start once, not in each part.
// CHECK-LABEL: @own_computation
func.func @own_computation(%x: tensor<6x3xi32>, %y: tensor<6x3xf32>, %s: tensor<i32>, %t: tensor<f32>) -> (tensor<3xi32>, tensor<3xf32>) {
  // CHECK-DAG: %[[NONE:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK-DAG: %[[LOWEST:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[ROWS:.*]]:2 = stablehlo.reduce(%arg0 init: %[[NONE]]), (%arg1 init: %[[LOWEST]])
  // CHECK-DAG: %[[S:.*]] = stablehlo.broadcast_in_dim %arg2, dims = []
  // CHECK-DAG: %[[T:.*]] = stablehlo.broadcast_in_dim %arg3, dims = []
  // CHECK-DAG: %[[ALL:.*]] = stablehlo.xor %[[S]], %[[ROWS]]#0
  // CHECK-DAG: %[[MOST:.*]] = stablehlo.maximum %[[T]], %[[ROWS]]#1
  // CHECK: return %[[ALL]], %[[MOST]]
  %0:2 = stablehlo.reduce(%x init: %s), (%y init: %t) across dimensions = [0]
      : (tensor<6x3xi32>, tensor<6x3xf32>, tensor<i32>, tensor<f32>) -> (tensor<3xi32>, tensor<3xf32>)
    reducer(%a: tensor<i32>, %b: tensor<i32>) (%c: tensor<f32>, %d: tensor<f32>) {
    %1 = stablehlo.xor %a, %b : tensor<i32>
    %2 = stablehlo.maximum %c, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<3xi32>, tensor<3xf32>
}

// Neutral starts stay, as do sums, and what has no neutral element that algebra knows.
// CHECK-LABEL: @own_stays
func.func @own_stays(%x: tensor<6xi32>, %s: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  // CHECK-COUNT-3: stablehlo.reduce(%arg0 init
  // CHECK-NOT: stablehlo.broadcast_in_dim
  // CHECK: return
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.xor across dimensions = [0] : (tensor<6xi32>, tensor<i32>) -> tensor<i32>
  %1 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] : (tensor<6xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.reduce(%x init: %s) across dimensions = [0] : (tensor<6xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %3 = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }
  return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<i32>
}
