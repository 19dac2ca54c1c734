// Many arrays are written into the result a few at a time; empty ones are nobody's piece. Few arrays, or few elements, are one kernel's.
// RUN: tessera-opt %s --tessera-split-concatenates=pieces=2 | FileCheck %s

// CHECK-LABEL: func.func @many
// CHECK: %[[A:.*]] = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<64x16xf32>, tensor<64x4xf32>) -> tensor<64x20xf32>
// CHECK: %[[P:.*]] = stablehlo.pad %[[A]], %{{.*}}, low = [0, 0], high = [0, 33], interior = [0, 0] : (tensor<64x20xf32>, tensor<f32>) -> tensor<64x53xf32>
// CHECK: %[[B:.*]] = stablehlo.concatenate %arg3, %arg0, dim = 1 : (tensor<64x8xf32>, tensor<64x16xf32>) -> tensor<64x24xf32>
// CHECK: %[[U:.*]] = stablehlo.dynamic_update_slice %[[P]], %[[B]], %[[ZERO:.*]], %[[TWENTY:.*]] :
// CHECK: %[[C:.*]] = stablehlo.concatenate %arg4, dim = 1
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[U]], %[[C]], %{{.*}}, %{{.*}} : (tensor<64x53xf32>, tensor<64x9xf32>,
// CHECK: return %[[R]]
func.func @many(%a: tensor<64x16xf32>, %b: tensor<64x4xf32>, %c: tensor<64x0xf32>, %d: tensor<64x8xf32>, %e: tensor<64x9xf32>) -> tensor<64x53xf32> {
  %0 = stablehlo.concatenate %a, %b, %c, %d, %a, %e, dim = 1
      : (tensor<64x16xf32>, tensor<64x4xf32>, tensor<64x0xf32>, tensor<64x8xf32>, tensor<64x16xf32>, tensor<64x9xf32>) -> tensor<64x53xf32>
  return %0 : tensor<64x53xf32>
}

// The element types that constants hold in other ways.
// CHECK-LABEL: func.func @types
// CHECK: stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
// CHECK: stablehlo.constant dense<false> : tensor<i1>
// CHECK: stablehlo.constant dense<0> : tensor<ui4>
func.func @types(%a: tensor<600xcomplex<f32>>, %b: tensor<600xi1>, %c: tensor<600xui4>)
    -> (tensor<2400xcomplex<f32>>, tensor<2400xi1>, tensor<2400xui4>) {
  %0 = stablehlo.concatenate %a, %a, %a, %a, dim = 0
      : (tensor<600xcomplex<f32>>, tensor<600xcomplex<f32>>, tensor<600xcomplex<f32>>, tensor<600xcomplex<f32>>) -> tensor<2400xcomplex<f32>>
  %1 = stablehlo.concatenate %b, %b, %b, %b, dim = 0 : (tensor<600xi1>, tensor<600xi1>, tensor<600xi1>, tensor<600xi1>) -> tensor<2400xi1>
  %2 = stablehlo.concatenate %c, %c, %c, %c, dim = 0 : (tensor<600xui4>, tensor<600xui4>, tensor<600xui4>, tensor<600xui4>) -> tensor<2400xui4>
  return %0, %1, %2 : tensor<2400xcomplex<f32>>, tensor<2400xi1>, tensor<2400xui4>
}

// CHECK-LABEL: func.func @few
// CHECK-NOT: stablehlo.dynamic_update_slice
func.func @few(%a: tensor<1000xf32>, %b: tensor<2xf32>) -> (tensor<3000xf32>, tensor<8xf32>) {
  %0 = stablehlo.concatenate %a, %a, %a, dim = 0 : (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) -> tensor<3000xf32>
  %1 = stablehlo.concatenate %b, %b, %b, %b, dim = 0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<3000xf32>, tensor<8xf32>
}
