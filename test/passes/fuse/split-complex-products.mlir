// A product of complex matrices is four of real ones; of one that was real, two. Vectors, and products of so few numbers that
// they are read about as often as multiplied, stay.
// RUN: tessera-opt %s --tessera-split-complex-products | FileCheck %s

// CHECK-LABEL: @matrices
// CHECK-DAG: %[[A:.*]] = stablehlo.real %arg0
// CHECK-DAG: %[[B:.*]] = stablehlo.imag %arg0
// CHECK-DAG: %[[C:.*]] = stablehlo.real %arg1
// CHECK-DAG: %[[D:.*]] = stablehlo.imag %arg1
// CHECK-DAG: %[[AC:.*]] = stablehlo.dot_general %[[A]], %[[C]], contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<48x32xf32>) -> tensor<64x48xf32>
// CHECK-DAG: %[[BD:.*]] = stablehlo.dot_general %[[B]], %[[D]]
// CHECK-DAG: %[[AD:.*]] = stablehlo.dot_general %[[A]], %[[D]]
// CHECK-DAG: %[[BC:.*]] = stablehlo.dot_general %[[B]], %[[C]]
// CHECK-DAG: %[[RE:.*]] = stablehlo.subtract %[[AC]], %[[BD]]
// CHECK-DAG: %[[IM:.*]] = stablehlo.add %[[AD]], %[[BC]]
// CHECK: stablehlo.complex %[[RE]], %[[IM]]
func.func @matrices(%x: tensor<64x32xcomplex<f32>>, %y: tensor<48x32xcomplex<f32>>) -> tensor<64x48xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<64x32xcomplex<f32>>, tensor<48x32xcomplex<f32>>) -> tensor<64x48xcomplex<f32>>
  return %0 : tensor<64x48xcomplex<f32>>
}

// CHECK-LABEL: @was_real
// CHECK-COUNT-2: stablehlo.dot_general {{.*}} -> tensor<64x48xf32>
// CHECK-NOT: stablehlo.dot_general
// CHECK: stablehlo.complex
func.func @was_real(%x: tensor<64x32xf32>, %y: tensor<32x48xcomplex<f32>>) -> tensor<64x48xcomplex<f32>> {
  %z = stablehlo.convert %x : (tensor<64x32xf32>) -> tensor<64x32xcomplex<f32>>
  %0 = stablehlo.dot_general %z, %y, contracting_dims = [1] x [0] : (tensor<64x32xcomplex<f32>>, tensor<32x48xcomplex<f32>>) -> tensor<64x48xcomplex<f32>>
  return %0 : tensor<64x48xcomplex<f32>>
}

// CHECK-LABEL: @vector
// CHECK: stablehlo.dot_general {{.*}} -> tensor<512xcomplex<f32>>
func.func @vector(%x: tensor<512x512xcomplex<f32>>, %y: tensor<512xcomplex<f32>>) -> tensor<512xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x512xcomplex<f32>>, tensor<512xcomplex<f32>>) -> tensor<512xcomplex<f32>>
  return %0 : tensor<512xcomplex<f32>>
}

// CHECK-LABEL: @few
// CHECK: stablehlo.dot_general {{.*}} -> tensor<900x16x16xcomplex<f32>>
func.func @few(%x: tensor<900x16x16xcomplex<f32>>, %y: tensor<900x16x16xcomplex<f32>>) -> tensor<900x16x16xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<900x16x16xcomplex<f32>>, tensor<900x16x16xcomplex<f32>>) -> tensor<900x16x16xcomplex<f32>>
  return %0 : tensor<900x16x16xcomplex<f32>>
}
