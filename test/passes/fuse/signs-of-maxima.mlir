// A comparison with what a maximum is taken with reads the maximum, where a product needs that for a gradient anyway.
// Guards against a maximum that is held for its signs, and against directions of which a maximum says nothing.
// RUN: tessera-opt %s --tessera-signs-of-maxima | FileCheck %s

// A layer and its gradient. The bound is a constant of its own.
// CHECK-LABEL: @layer
// CHECK: %[[Y:.*]] = stablehlo.maximum
// CHECK: stablehlo.compare GT, %[[Y]],
func.func @layer(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %g: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %bound = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %y = stablehlo.maximum %x, %zeros : tensor<8x4xf32>
  %signs = stablehlo.compare GT, %x, %bound : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %p = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = stablehlo.multiply %p, %g : tensor<8x4xf32>
  %dw = stablehlo.dot_general %t, %y, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %dy = stablehlo.dot_general %t, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %dx = stablehlo.select %signs, %dy, %zeros : tensor<8x4xi1>, tensor<8x4xf32>
  return %dw, %dx : tensor<4x4xf32>, tensor<8x4xf32>
}

// The comparison comes first, the maximum has the bound before it, and who reads the signs is of the gradient as well.
// CHECK-LABEL: @before
// CHECK: %[[Y:.*]] = stablehlo.maximum
// CHECK-NEXT: stablehlo.compare LE, %[[Y]],
func.func @before(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %g: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %signs = stablehlo.compare LE, %x, %zeros : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %kept = stablehlo.select %signs, %zeros, %g : tensor<8x4xi1>, tensor<8x4xf32>
  %y = stablehlo.maximum %zeros, %x : tensor<8x4xf32>
  %t = stablehlo.add %y, %g : tensor<8x4xf32>
  %turned = stablehlo.transpose %y, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %dw = stablehlo.dot_general %turned, %t, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %dx = stablehlo.select %signs, %zeros, %t : tensor<8x4xi1>, tensor<8x4xf32>
  return %dw, %dx : tensor<4x4xf32>, tensor<8x4xf32>
}

// Only the forward pass reads the maximum: its signs are a byte each, it would be four.
// CHECK-LABEL: @pooled
// CHECK: stablehlo.compare GT, %arg0,
func.func @pooled(%x: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %y = stablehlo.maximum %x, %zeros : tensor<8x4xf32>
  %signs = stablehlo.compare GT, %x, %zeros : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %exp = stablehlo.exponential %y : tensor<8x4xf32>
  %dx = stablehlo.select %signs, %g, %zeros : tensor<8x4xi1>, tensor<8x4xf32>
  return %exp, %dx : tensor<8x4xf32>, tensor<8x4xf32>
}

// The weight is made behind the maximum, and no product of the gradient reads that.
// CHECK-LABEL: @frozen
// CHECK: stablehlo.compare GT, %arg0,
func.func @frozen(%x: tensor<8x4xf32>, %a: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %y = stablehlo.maximum %x, %zeros : tensor<8x4xf32>
  %signs = stablehlo.compare GT, %x, %zeros : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %w = stablehlo.tanh %a : tensor<4x4xf32>
  %p = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %t = stablehlo.sine %p : tensor<8x4xf32>
  %dy = stablehlo.dot_general %t, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %dx = stablehlo.select %signs, %dy, %zeros : tensor<8x4xi1>, tensor<8x4xf32>
  return %p, %dx : tensor<8x4xf32>, tensor<8x4xf32>
}

// Of several maxima of one value each comparison reads its own.
// CHECK-LABEL: @several
// CHECK-DAG: %[[A:.*]] = stablehlo.maximum %arg0, %[[ZEROS:.*]] :
// CHECK-DAG: %[[B:.*]] = stablehlo.maximum %arg0, %[[ONES:.*]] :
// CHECK-DAG: stablehlo.compare GT, %[[A]], %[[ZEROS]]
// CHECK-DAG: stablehlo.compare GT, %[[B]], %[[ONES]]
func.func @several(%x: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<8x4xf32>
  %a = stablehlo.maximum %x, %zeros : tensor<8x4xf32>
  %b = stablehlo.maximum %x, %ones : tensor<8x4xf32>
  %as = stablehlo.compare GT, %x, %zeros : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %bs = stablehlo.compare GT, %x, %ones : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %sum = stablehlo.add %a, %b : tensor<8x4xf32>
  %t = stablehlo.multiply %sum, %g : tensor<8x4xf32>
  %da = stablehlo.dot_general %a, %t, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %db = stablehlo.dot_general %b, %t, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %dw = stablehlo.add %da, %db : tensor<4x4xf32>
  %ta = stablehlo.select %as, %t, %zeros : tensor<8x4xi1>, tensor<8x4xf32>
  %dx = stablehlo.select %bs, %t, %ta : tensor<8x4xi1>, tensor<8x4xf32>
  return %dw, %dx : tensor<4x4xf32>, tensor<8x4xf32>
}

// x >= 0 is no question of max(x, 0), nor is a total order, nor another bound.
// CHECK-LABEL: @others
// CHECK: stablehlo.compare GE, %arg0,
// CHECK: stablehlo.compare GT, %arg0, %{{.*}}, TOTALORDER
// CHECK: stablehlo.compare GT, %arg0,
func.func @others(%x: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<8x4xf32>
  %y = stablehlo.maximum %x, %zeros : tensor<8x4xf32>
  %a = stablehlo.compare GE, %x, %zeros : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %b = stablehlo.compare GT, %x, %zeros, TOTALORDER : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %c = stablehlo.compare GT, %x, %ones : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %t = stablehlo.add %y, %g : tensor<8x4xf32>
  %dw = stablehlo.dot_general %y, %t, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %ab = stablehlo.and %a, %b : tensor<8x4xi1>
  %abc = stablehlo.and %ab, %c : tensor<8x4xi1>
  %dx = stablehlo.select %abc, %t, %zeros : tensor<8x4xi1>, tensor<8x4xf32>
  return %dw, %dx : tensor<4x4xf32>, tensor<8x4xf32>
}
