// Large sums over columns become sums of parts, added as f32 where they are narrower; others stay as they are.
// RUN: tessera-opt %s --tessera-split-column-sums | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK: %[[PARTS:.*]] = "stablehlo.reduce_window"(%arg0, %{{.*}}) <{
// CHECK-SAME: padding = dense<0> : tensor<2x2xi64>
// CHECK-SAME: window_dimensions = array<i64: 64, 1>
// CHECK-SAME: window_strides = array<i64: 64, 1>
// CHECK: {tessera.parts = 64 : i64} : (tensor<8192x256xf32>, tensor<f32>) -> tensor<128x256xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[PARTS]] init: %arg1) applies stablehlo.add across dimensions = [0] {tessera.parts = 64 : i64}
// CHECK: return %[[SUM]]
func.func @rows(%x: tensor<8192x256xf32>, %init: tensor<f32>) -> tensor<256xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<8192x256xf32>, tensor<f32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}

// The last part is filled up; what the sum starts from is added to it once, as f32.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<8x197x768xbf16>) -> tensor<8x197x768xf32>
// CHECK: "stablehlo.reduce_window"(%[[WIDE]]
// CHECK-SAME: padding = dense<{{\[\[}}0, 0], [0, 59], [0, 0]]>
// CHECK: -> tensor<8x4x768xf32>
// CHECK: %[[INIT:.*]] = stablehlo.convert %arg1
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%{{.*}} init: %[[INIT]]) applies stablehlo.add across dimensions = [0, 1]
// CHECK: stablehlo.convert %[[SUM]] : (tensor<768xf32>) -> tensor<768xbf16>
func.func @narrow(%x: tensor<8x197x768xbf16>, %init: tensor<bf16>) -> tensor<768xbf16> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x197x768xbf16>, tensor<bf16>) -> tensor<768xbf16>
  return %0 : tensor<768xbf16>
}

// Whole inner dimensions: the sum of such parts is one like any other.
// CHECK-LABEL: func.func @whole
// CHECK: window_dimensions = array<i64: 1, 49, 1>
// CHECK: {tessera.parts = 1 : i64}
// CHECK: stablehlo.reduce(%{{.*}}) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x1x768xf32>
func.func @whole(%x: tensor<16x49x768xf32>, %init: tensor<f32>) -> tensor<768xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x49x768xf32>, tensor<f32>) -> tensor<768xf32>
  return %0 : tensor<768xf32>
}

// CHECK-LABEL: func.func @others
// CHECK-NOT: reduce_window
func.func @others(%x: tensor<8192x256xf32>, %n: tensor<8192x256xi32>, %init: tensor<f32>, %zero: tensor<i32>) -> (tensor<8192xf32>, tensor<256xf32>, tensor<256xi32>) {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<8192x256xf32>, tensor<f32>) -> tensor<8192xf32>
  %1 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<8192x256xf32>, tensor<f32>) -> tensor<256xf32>
  %2 = stablehlo.reduce(%n init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8192x256xi32>, tensor<i32>) -> tensor<256xi32>
  return %0, %1, %2 : tensor<8192xf32>, tensor<256xf32>, tensor<256xi32>
}

// What is noted on a sum is noted on its parts, which are the op for who looks for it.
// CHECK-LABEL: func.func @noted
// CHECK: stablehlo.reduce_window
// CHECK: {note = 7 : i64, tessera.parts = 64 : i64}
func.func @noted(%x: tensor<8192x256xf32>, %init: tensor<f32>) -> tensor<256xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] {note = 7 : i64} : (tensor<8192x256xf32>, tensor<f32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}
