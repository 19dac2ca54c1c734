// Sums of all elements of large arrays become, on a GPU, sums of rows' lanes, and the sum of those; others stay as they are.
// RUN: tessera-opt %s --tessera-set-target="target=cuda" --tessera-split-whole-sums | FileCheck %s
// RUN: tessera-opt %s --tessera-set-target="target=cpu" --tessera-split-whole-sums | FileCheck %s --check-prefix=CPU
// CPU-NOT: stablehlo.reshape

// CHECK-LABEL: func.func @rows
// CHECK: %[[LANES:.*]] = stablehlo.reshape %arg0 : (tensor<1x512x1024xf32>) -> tensor<512x64x16xf32>
// CHECK: %[[PARTS:.*]] = stablehlo.reduce(%[[LANES]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] {note = 7 : i64} : (tensor<512x64x16xf32>, tensor<f32>) -> tensor<512x16xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[PARTS]] init: %arg1) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x16xf32>, tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.reshape %[[SUM]] : (tensor<f32>) -> tensor<1xf32>
func.func @rows(%x: tensor<1x512x1024xf32>, %init: tensor<f32>) -> tensor<1xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1, 2] {note = 7 : i64} : (tensor<1x512x1024xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// Parts are whole rows of as many dimensions as make enough of them.
// CHECK-LABEL: func.func @dimensions
// CHECK: stablehlo.reshape %arg0 : (tensor<8x16x64x128xf32>) -> tensor<8x16x64x8x16xf32>
// CHECK: across dimensions = [2, 3] : (tensor<8x16x64x8x16xf32>, tensor<f32>) -> tensor<8x16x16xf32>
// CHECK: across dimensions = [0, 1, 2] : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<f32>
func.func @dimensions(%x: tensor<8x16x64x128xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<8x16x64x128xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Small arrays, sums of rows, maxima, rows that do not end with four units.
// CHECK-LABEL: func.func @others
// CHECK-NOT: stablehlo.reshape
func.func @others(%small: tensor<128x1024xf32>, %x: tensor<512x1024xf32>, %odd: tensor<512x1040xf32>, %narrow: tensor<512x1024xbf16>, %init: tensor<f32>) -> (tensor<f32>, tensor<512xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = stablehlo.reduce(%small init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x1024xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %2 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reduce(%odd init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x1040xf32>, tensor<f32>) -> tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %4 = "stablehlo.reduce"(%narrow, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %5 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<512x1024xbf16>, tensor<bf16>) -> tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<512xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// Many rows: in another stage.
// CHECK-LABEL: func.func @many
// CHECK: across dimensions = [2] : (tensor<32x1024x16x16xf32>, tensor<f32>) -> tensor<32x1024x16xf32>
// CHECK: across dimensions = [1] : (tensor<32x1024x16xf32>, tensor<f32>) -> tensor<32x16xf32>
// CHECK: across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
func.func @many(%x: tensor<32x1024x256xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<32x1024x256xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
