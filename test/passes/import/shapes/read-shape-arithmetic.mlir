// Sizes computed in arith, tensor and shape, as torch-mlir exports them: read as StableHLO, and folded where they are known.
// RUN: tessera-opt %s --split-input-file --tessera-refine-shapes --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT:     {{arith|tensor\.}}
// CHECK:         %[[S:.*]] = stablehlo.constant dense<[6, 2, 4]> : tensor<3xi64>
// CHECK:         stablehlo.dynamic_reshape %arg0, %[[S]] : (tensor<6x8xf32>, tensor<3xi64>) -> tensor<6x2x4xf32>
func.func @main(%x: tensor<?x8xf32> {tessera.shape = tensor<6x8xf32>}) -> tensor<?x2x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %c4 = arith.floordivsi %c8, %c2 : index
  %s = tensor.from_elements %n, %c2, %c4 : tensor<3xindex>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<3xindex>) -> tensor<?x2x4xf32>
  return %0 : tensor<?x2x4xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-NOT:     shape
// CHECK-DAG:     %[[A:.*]] = stablehlo.dynamic_broadcast_in_dim %arg0, %{{.*}}, dims = [0, 1] : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
// CHECK-DAG:     %[[B:.*]] = stablehlo.dynamic_broadcast_in_dim %arg1, %{{.*}}, dims = [1] : (tensor<8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
// CHECK:         stablehlo.add %[[A]], %[[B]]
func.func @main(%x: tensor<?x8xf32> {tessera.shape = tensor<4x8xf32>}, %y: tensor<8xf32>) -> tensor<?x8xf32> {
  %a = shape.shape_of %x : tensor<?x8xf32> -> tensor<2xindex>
  %b = shape.const_shape [8] : tensor<1xindex>
  %w = shape.cstr_broadcastable %a, %b : tensor<2xindex>, tensor<1xindex>
  %0 = shape.assuming %w -> (tensor<?x8xf32>) {
    %c = shape.broadcast %a, %b : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %1 = stablehlo.dynamic_broadcast_in_dim %x, %c, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %2 = stablehlo.dynamic_broadcast_in_dim %y, %c, dims = [1] : (tensor<8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %3 = stablehlo.add %1, %2 : tensor<?x8xf32>
    shape.assuming_yield %3 : tensor<?x8xf32>
  }
  return %0 : tensor<?x8xf32>
}

// -----

// Constants of arith are constants.

// CHECK-LABEL: func.func @main
// CHECK:         %[[C:.*]] = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         stablehlo.add %arg0, %[[C]]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.add %x, %c : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%x: tensor<?xf32> {tessera.shape = tensor<4xf32>}) -> tensor<?xf32> {
  %c = arith.constant 3 : index
  // expected-error@+1 {{'arith.shli' is not arithmetic on sizes that Tessera reads}}
  %n = arith.shli %c, %c : index
  %s = tensor.from_elements %n : tensor<1xindex>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
