// Which rows stay in one kernel depends on who computes them: on a GPU short and few ones, too.
// RUN: tessera-opt %s --tessera-set-target="target=cuda" --tessera-form-kernels | FileCheck %s --check-prefix=CUDA
// RUN: tessera-opt %s --tessera-set-target="target=cpu" --tessera-form-kernels | FileCheck %s --check-prefix=CPU

// Rows of 7 elements.
// CUDA-LABEL: func.func @short
// CUDA-COUNT-1: exec.fused({{.*}}) -> tensor<5x7xf32>
// CUDA-NOT: exec.fused
// CPU-LABEL: func.func @short
// CPU: exec.fused({{.*}}) -> tensor<5xf32>
// CPU: exec.fused({{.*}}) -> tensor<5x7xf32>
func.func @short(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<5x7xf32>, tensor<f32>) -> tensor<5xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<5xf32>) -> tensor<5x7xf32>
  %q = stablehlo.divide %x, %b : tensor<5x7xf32>
  return %q : tensor<5x7xf32>
}

// Three rows.
// CUDA-LABEL: func.func @few
// CUDA-COUNT-1: exec.fused({{.*}}) -> tensor<3x30000xf32>
// CUDA-NOT: exec.fused
// CPU-LABEL: func.func @few
// CPU: exec.fused({{.*}}) -> tensor<3xf32>
// CPU: exec.fused({{.*}}) -> tensor<3x30000xf32>
func.func @few(%x: tensor<3x30000xf32>) -> tensor<3x30000xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<3x30000xf32>, tensor<f32>) -> tensor<3xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<3xf32>) -> tensor<3x30000xf32>
  %q = stablehlo.divide %x, %b : tensor<3x30000xf32>
  return %q : tensor<3x30000xf32>
}

// One row that a block reads once, as a decoder's logits.
// CUDA-LABEL: func.func @logits
// CUDA-COUNT-1: exec.fused({{.*}}) -> tensor<1x32000xf32>
// CUDA-NOT: exec.fused
func.func @logits(%x: tensor<1x32000xf32>) -> tensor<1x32000xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1x32000xf32>, tensor<f32>) -> tensor<1xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1xf32>) -> tensor<1x32000xf32>
  %q = stablehlo.divide %x, %b : tensor<1x32000xf32>
  return %q : tensor<1x32000xf32>
}

// All of a large array is one row: its sum would have one block compute what all blocks of a GPU may.
// CUDA-LABEL: func.func @one
// CUDA: exec.fused({{.*}}) -> tensor<512x256xf32>
// CUDA: exec.fused({{.*}}) -> tensor<f32>
func.func @one(%x: tensor<512x256xf32>, %rate: tensor<f32>) -> (tensor<512x256xf32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<512x256xf32>
  %p = stablehlo.multiply %x, %b : tensor<512x256xf32>
  %squares = stablehlo.multiply %p, %p : tensor<512x256xf32>
  %s = stablehlo.reduce(%squares init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x256xf32>, tensor<f32>) -> tensor<f32>
  return %p, %s : tensor<512x256xf32>, tensor<f32>
}
