// Attention becomes one kernel, before others are formed.
// RUN: tessera-opt %s --tessera-form-attention --tessera-form-kernels --tessera-verify-fuse --split-input-file | FileCheck %s

// Both products, the softmax between them, the scale of the queries and the transpose of the result: the
// scores are in no array. Which keys a query sees is computed where the scores are.
// CHECK-LABEL: func.func @causal
// CHECK: exec.fused({{.*}}) -> tensor<2x256x4x64xf32> {
// CHECK: stablehlo.multiply
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.select
// CHECK: stablehlo.reduce
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.transpose
// CHECK: exec.yield
// CHECK-NOT: exec.fused
// CHECK: return
func.func @causal(%q: tensor<2x256x4x64xf32>, %k: tensor<2x256x4x64xf32>, %v: tensor<2x256x4x64xf32>) -> tensor<2x256x4x64xf32> {
  %c = stablehlo.constant dense<0.125> : tensor<2x256x4x64xf32>
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<2x4x256x256xf32>
  %scaled = stablehlo.multiply %q, %c : tensor<2x256x4x64xf32>
  %0 = stablehlo.dot_general %scaled, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x256x4x64xf32>, tensor<2x256x4x64xf32>) -> tensor<2x4x256x256xf32>
  %rows = stablehlo.iota dim = 2 : tensor<2x4x256x256xi32>
  %columns = stablehlo.iota dim = 3 : tensor<2x4x256x256xi32>
  %sees = stablehlo.compare GE, %rows, %columns : (tensor<2x4x256x256xi32>, tensor<2x4x256x256xi32>) -> tensor<2x4x256x256xi1>
  %x = stablehlo.select %sees, %0, %hidden : tensor<2x4x256x256xi1>, tensor<2x4x256x256xf32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x256x256xf32>, tensor<f32>) -> tensor<2x4x256xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x4x256xf32>) -> tensor<2x4x256x256xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2x4x256x256xf32>
  %e = stablehlo.exponential %2 : tensor<2x4x256x256xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x4x256x256xf32>, tensor<f32>) -> tensor<2x4x256xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0, 1, 2] : (tensor<2x4x256xf32>) -> tensor<2x4x256x256xf32>
  %p = stablehlo.divide %e, %3 : tensor<2x4x256x256xf32>
  %4 = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x256x4x64xf32>, tensor<2x4x256x256xf32>) -> tensor<2x4x64x256xf32>
  %5 = stablehlo.transpose %4, dims = [0, 3, 1, 2] : (tensor<2x4x64x256xf32>) -> tensor<2x256x4x64xf32>
  return %5 : tensor<2x256x4x64xf32>
}

// -----

// The probabilities are a result too: they are in memory, and what makes them is a kernel of its own.
// CHECK-LABEL: func.func @probabilities
// CHECK: exec.fused({{.*}}) -> tensor<512x512xf32>
// CHECK: exec.fused
// CHECK: return
func.func @probabilities(%q: tensor<512x64xf32>, %k: tensor<512x64xf32>, %v: tensor<512x64xf32>) -> (tensor<512x64xf32>, tensor<512x512xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x512xf32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x512xf32>
  %e = stablehlo.exponential %2 : tensor<512x512xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %p = stablehlo.divide %e, %3 : tensor<512x512xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  return %o, %p : tensor<512x64xf32>, tensor<512x512xf32>
}

// -----

// Two products with something else than a softmax between them: the sum is of squares.
// CHECK-LABEL: func.func @other
// CHECK-NOT: exec.fused({{.*}}) -> tensor<512x64xf32> {{.*}}dot_general{{.*}}dot_general
// CHECK: exec.fused({{.*}}) -> tensor<512x512xf32>
// CHECK: return
func.func @other(%q: tensor<512x64xf32>, %k: tensor<512x64xf32>, %v: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x512xf32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x512xf32>
  %e = stablehlo.exponential %2 : tensor<512x512xf32>
  %e2 = stablehlo.multiply %e, %e : tensor<512x512xf32>
  %s = stablehlo.reduce(%e2 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %p = stablehlo.divide %e, %3 : tensor<512x512xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  return %o : tensor<512x64xf32>
}

// -----

// What reads a score behind the attention, and is read by nothing, as where it was computed again elsewhere, neither
// joins the kernel nor keeps the scores.
// CHECK-LABEL: func.func @unread
// CHECK: exec.fused
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: exec.yield
// CHECK-NOT: stablehlo.cosine
// CHECK: return
func.func @unread(%q: tensor<8x256x64xf32>, %k: tensor<8x256x64xf32>, %v: tensor<8x256x64xf32>) -> tensor<8x256x64xf32> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x256xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<8x256x256xf32>
  %e = stablehlo.exponential %2 : tensor<8x256x256xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x256xf32>
  %p = stablehlo.divide %e, %3 : tensor<8x256x256xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x256x256xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  %4 = stablehlo.cosine %k : tensor<8x256x64xf32>
  %5 = stablehlo.dot_general %4, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %6 = stablehlo.multiply %5, %p : tensor<8x256x256xf32>
  return %o : tensor<8x256x64xf32>
}
