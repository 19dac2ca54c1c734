// RUN: tessera-opt %s --tessera-block-running-reductions | FileCheck %s

// A running sum of 40 rows is one of three blocks of 16, each with the sum of the blocks before it.

// CHECK-LABEL: func.func @ends_at_its_element
// CHECK:         %[[ALL:.*]] = stablehlo.pad %{{.*}}, %{{.*}}, low = [0, 0], high = [8, 0], interior = [0, 0]
// CHECK:         %[[BLOCKS:.*]] = stablehlo.reshape %[[ALL]] : (tensor<48x3xf32>) -> tensor<3x16x3xf32>
// CHECK:         %[[WITHIN:.*]] = "stablehlo.reduce_window"(%[[BLOCKS]], %{{.*}}) <{padding = dense<{{\[\[}}0, 0], [15, 0], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 16, 1>}>
// CHECK:         %[[LAST:.*]] = stablehlo.slice %[[WITHIN]] [0:3, 15:16, 0:3]
// CHECK:         %[[TOTALS:.*]] = stablehlo.reshape %[[LAST]] : (tensor<3x1x3xf32>) -> tensor<3x3xf32>
// CHECK:         %[[RUNNING:.*]] = "stablehlo.reduce_window"(%[[TOTALS]], %{{.*}}) <{padding = dense<{{\[\[}}2, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>}>
// CHECK:         %[[BEFORE:.*]] = stablehlo.pad %[[RUNNING]], %{{.*}}, low = [1, 0], high = [-1, 0], interior = [0, 0]
// CHECK:         %[[EACH:.*]] = stablehlo.broadcast_in_dim %[[BEFORE]], dims = [0, 2] : (tensor<3x3xf32>) -> tensor<3x16x3xf32>
// CHECK:         %[[SUM:.*]] = stablehlo.add %[[EACH]], %[[WITHIN]]
// CHECK:         %[[FLAT:.*]] = stablehlo.reshape %[[SUM]] : (tensor<3x16x3xf32>) -> tensor<48x3xf32>
// CHECK:         stablehlo.slice %[[FLAT]] [0:40, 0:3]
func.func @ends_at_its_element(%x: tensor<40x3xf32>) -> tensor<40x3xf32> {
  %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 40, 1>, padding = dense<[[39, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<f32>) -> tensor<40x3xf32>
  return %0 : tensor<40x3xf32>
}

// From the other end totals are first elements, and move the other way.

// CHECK-LABEL: func.func @begins_at_its_element
// CHECK:         stablehlo.slice %{{.*}} [0:2, 0:1]
// CHECK:         stablehlo.pad %{{.*}}, %{{.*}}, low = [-1], high = [1], interior = [0]
// CHECK:         stablehlo.maximum
func.func @begins_at_its_element(%x: tensor<32xf32>) -> tensor<32xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 32>, padding = dense<[[0, 31]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// A sum that starts from another number than 0, differences, short windows and such as are not as long as the dimension
// stay one pass.

// CHECK-LABEL: func.func @others
// CHECK-NOT:     stablehlo.reshape
// CHECK-COUNT-4: "stablehlo.reduce_window"
// CHECK-NOT:     stablehlo.reshape
func.func @others(%x: tensor<40xf32>, %y: tensor<f32>, %s: tensor<16xf32>) -> (tensor<40xf32>, tensor<40xf32>, tensor<16xf32>, tensor<40xf32>) {
  %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %y) <{window_dimensions = array<i64: 40>, padding = dense<[[39, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %1 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 40>, padding = dense<[[39, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %2 = "stablehlo.reduce_window"(%s, %z) <{window_dimensions = array<i64: 16>, padding = dense<[[15, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  %3 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 39>, padding = dense<[[19, 19]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  return %0, %1, %2, %3 : tensor<40xf32>, tensor<40xf32>, tensor<16xf32>, tensor<40xf32>
}
