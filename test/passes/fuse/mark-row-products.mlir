// RUN: tessera-opt %s --tessera-mark-row-products | FileCheck %s

// A shard with one row of a batch.
// CHECK-LABEL: func.func @one_row
// CHECK: stablehlo.reduce{{.*}}tessera.row_product
func.func @one_row(%x: tensor<1x96x192xf32>, %y: tensor<1x96x192xf32>) -> tensor<1x96xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %x, %y : tensor<1x96x192xf32>
  %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x96x192xf32>, tensor<f32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// CHECK-LABEL: func.func @two_rows
// CHECK-NOT: tessera.row_product
func.func @two_rows(%x: tensor<2x96x192xf32>, %y: tensor<2x96x192xf32>) -> tensor<2x96xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %x, %y : tensor<2x96x192xf32>
  %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x96x192xf32>, tensor<f32>) -> tensor<2x96xf32>
  return %r : tensor<2x96xf32>
}

// CHECK-LABEL: func.func @squares
// CHECK-NOT: tessera.row_product
func.func @squares(%x: tensor<1x96x192xf32>) -> tensor<1x96xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %x, %x : tensor<1x96x192xf32>
  %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x96x192xf32>, tensor<f32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// CHECK-LABEL: func.func @product_kept
// CHECK-NOT: tessera.row_product
func.func @product_kept(%x: tensor<1x96x192xf32>, %y: tensor<1x96x192xf32>) -> (tensor<1x96xf32>, tensor<1x96x192xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %x, %y : tensor<1x96x192xf32>
  %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x96x192xf32>, tensor<f32>) -> tensor<1x96xf32>
  return %r, %p : tensor<1x96xf32>, tensor<1x96x192xf32>
}

// CHECK-LABEL: func.func @small
// CHECK-NOT: tessera.row_product
func.func @small(%x: tensor<1x8x192xf32>, %y: tensor<1x8x192xf32>) -> tensor<1x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %x, %y : tensor<1x8x192xf32>
  %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x8x192xf32>, tensor<f32>) -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}
