// Padding that moves all elements out of the result, and sizes that no integer holds.
// RUN: tessera-opt %s --tessera-bound-padding --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @pad
func.func @pad(%x: tensor<4xf32>, %y: tensor<1xf32>, %c: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<2xf32>) {
  // CHECK: stablehlo.pad %arg0, %arg2, low = [-4], high = [4], interior = [0]
  %0 = stablehlo.pad %x, %c, low = [-9223372036854775807], high = [9223372036854775807], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.pad %arg0, %arg2, low = [4], high = [-4], interior = [0]
  %1 = stablehlo.pad %x, %c, low = [9223372036854775807], high = [-9223372036854775807], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // What stays inside is left alone.
  // CHECK: stablehlo.pad %arg0, %arg2, low = [-3], high = [1], interior = [1]
  %2 = stablehlo.pad %x, %c, low = [-3], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  // Between one element and none there is nothing.
  // CHECK: stablehlo.pad %arg1, %arg2, low = [1], high = [0], interior = [0]
  %3 = stablehlo.pad %y, %c, low = [1], high = [0], interior = [9223372036854775807] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<2xf32>
}

// CHECK-LABEL: @window
func.func @window(%x: tensor<4xf32>, %c: tensor<f32>) -> tensor<4xf32> {
  // CHECK: padding = dense<{{\[\[}}4, -4]]>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1>, padding = dense<[[9223372036854775807, -9223372036854775807]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @wide(%x: tensor<3xf32>, %c: tensor<f32>) -> tensor<2xf32> {
  // expected-error @+1 {{has more elements along dimension 0, padded and dilated, than 64 bits count}}
  %0 = stablehlo.pad %x, %c, low = [-9223372036854775807], high = [-9223372036854775806], interior = [9223372036854775806] : (tensor<3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
