// RUN: tessera-opt %s --tessera-decompose-batch-norm | FileCheck %s

// Sums run over every dimension but the feature's; bf16 values are summed in f32.

// CHECK-LABEL: func.func @training
// CHECK:         stablehlo.convert %arg0 : (tensor<2x3x4xbf16>) -> tensor<2x3x4xf32>
// CHECK:         stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK:         stablehlo.rsqrt
// CHECK-NOT:     batch_norm
func.func @training(%x: tensor<2x3x4xbf16>, %s: tensor<3xbf16>, %o: tensor<3xbf16>) -> (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  return %0#0, %0#1, %0#2 : tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>
}

// CHECK-LABEL: func.func @gradient
// CHECK:         stablehlo.reduce
// CHECK-NOT:     batch_norm
func.func @gradient(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @inference
// CHECK-NOT:     stablehlo.reduce
// CHECK-NOT:     batch_norm
func.func @inference(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
