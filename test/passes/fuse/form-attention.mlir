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

// -----

// Two blocks of keys whose results are merged, as in a ring of devices: what is subtracted from the second's scores is
// computed of the first's largest, too. Each is a kernel that yields what is known of its queries.
// CHECK-LABEL: func.func @merged
// CHECK-COUNT-2: exec.fused({{.*}}) -> (tensor<8x256x64xf32>, {{.*}}tensor<8x256xf32>{{.*}}) {
// CHECK-NOT: -> {{.*}}tensor<8x256x256xf32>{{.*}} {
// CHECK: return
func.func @merged(%q: tensor<8x256x64xf32>, %k1: tensor<8x256x64xf32>, %v1: tensor<8x256x64xf32>, %k2: tensor<8x256x64xf32>, %v2: tensor<8x256x64xf32>) -> (tensor<8x256x64xf32>, tensor<8x256xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %x1 = stablehlo.dot_general %q, %k1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %m1 = stablehlo.reduce(%x1 init: %i) applies stablehlo.maximum across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %1 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x256xf32>
  %2 = stablehlo.subtract %x1, %1 : tensor<8x256x256xf32>
  %e1 = stablehlo.exponential %2 : tensor<8x256x256xf32>
  %s1 = stablehlo.reduce(%e1 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %o1 = stablehlo.dot_general %e1, %v1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x256x256xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  %x2 = stablehlo.dot_general %q, %k2, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %3 = stablehlo.reduce(%x2 init: %i) applies stablehlo.maximum across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %m2 = stablehlo.maximum %m1, %3 : tensor<8x256xf32>
  %4 = stablehlo.broadcast_in_dim %m2, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x256xf32>
  %5 = stablehlo.subtract %x2, %4 : tensor<8x256x256xf32>
  %e2 = stablehlo.exponential %5 : tensor<8x256x256xf32>
  %s2 = stablehlo.reduce(%e2 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<8x256x256xf32>, tensor<f32>) -> tensor<8x256xf32>
  %o2 = stablehlo.dot_general %e2, %v2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x256x256xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  %6 = stablehlo.subtract %m1, %m2 : tensor<8x256xf32>
  %by = stablehlo.exponential %6 : tensor<8x256xf32>
  %7 = stablehlo.multiply %s1, %by : tensor<8x256xf32>
  %s = stablehlo.add %7, %s2 : tensor<8x256xf32>
  %8 = stablehlo.broadcast_in_dim %by, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x64xf32>
  %9 = stablehlo.multiply %o1, %8 : tensor<8x256x64xf32>
  %o = stablehlo.add %9, %o2 : tensor<8x256x64xf32>
  return %o, %s : tensor<8x256x64xf32>, tensor<8x256xf32>
}

// -----

// Few scores stay arrays, which lie in a cache.
// CHECK-LABEL: module @few_scores
// CHECK: exec.fused({{.*}}) -> {{.*}}tensor<128x128xf32>
// CHECK: return
module @few_scores {
  func.func @main(%q: tensor<128x16xf32>, %k: tensor<128x16xf32>, %v: tensor<128x16xf32>) -> tensor<128x16xf32> {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<128x16xf32>, tensor<128x16xf32>) -> tensor<128x128xf32>
    %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
    %2 = stablehlo.subtract %x, %1 : tensor<128x128xf32>
    %e = stablehlo.exponential %2 : tensor<128x128xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
    %p = stablehlo.divide %e, %3 : tensor<128x128xf32>
    %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x16xf32>) -> tensor<128x16xf32>
    return %o : tensor<128x16xf32>
  }
}

// -----

// Where the schedule says so, they are no arrays either.
// CHECK-LABEL: module @no_scores
// CHECK: exec.fused({{.*}}) -> tensor<128x16xf32> {
// CHECK-NOT: exec.fused
// CHECK: return
module @no_scores attributes {tessera.schedule = #tessera.schedule<overlap = auto, small_attention>} {
  func.func @main(%q: tensor<128x16xf32>, %k: tensor<128x16xf32>, %v: tensor<128x16xf32>) -> tensor<128x16xf32> {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<128x16xf32>, tensor<128x16xf32>) -> tensor<128x128xf32>
    %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
    %2 = stablehlo.subtract %x, %1 : tensor<128x128xf32>
    %e = stablehlo.exponential %2 : tensor<128x128xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
    %p = stablehlo.divide %e, %3 : tensor<128x128xf32>
    %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x16xf32>) -> tensor<128x16xf32>
    return %o : tensor<128x16xf32>
  }
}

// -----

// A number for each key is a product without a dimension of elements: it ended the compiler.
// CHECK-LABEL: func.func @a_number_for_each_key
// CHECK: return {{.*}} : tensor<16xbf16>
func.func @a_number_for_each_key(%q: tensor<16x8xf32>, %k: tensor<128x8xf32>, %v: tensor<128xf32>) -> tensor<16xbf16> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<128x8xf32>) -> tensor<16x128xf32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<16xf32>) -> tensor<16x128xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<16x128xf32>
  %e = stablehlo.exponential %2 : tensor<16x128xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<16xf32>) -> tensor<16x128xf32>
  %p = stablehlo.divide %e, %3 : tensor<16x128xf32>
  %o = stablehlo.dot_general %v, %p, contracting_dims = [0] x [1] : (tensor<128xf32>, tensor<16x128xf32>) -> tensor<16xf32>
  %r = stablehlo.convert %o : (tensor<16xf32>) -> tensor<16xbf16>
  return %r : tensor<16xbf16>
}

// -----

// Nor are rows of one element any more, where a reshape takes that dimension away.
// CHECK-LABEL: func.func @one_element
// CHECK: return {{.*}} : tensor<16xbf16>
func.func @one_element(%q: tensor<16x8xf32>, %k: tensor<128x8xf32>, %v: tensor<128x1xf32>) -> tensor<16xbf16> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<128x8xf32>) -> tensor<16x128xf32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<16xf32>) -> tensor<16x128xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<16x128xf32>
  %e = stablehlo.exponential %2 : tensor<16x128xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<16x128xf32>, tensor<f32>) -> tensor<16xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<16xf32>) -> tensor<16x128xf32>
  %p = stablehlo.divide %e, %3 : tensor<16x128xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<16x128xf32>, tensor<128x1xf32>) -> tensor<16x1xf32>
  %row = stablehlo.reshape %o : (tensor<16x1xf32>) -> tensor<16xf32>
  %r = stablehlo.convert %row : (tensor<16xf32>) -> tensor<16xbf16>
  return %r : tensor<16xbf16>
}

// -----

// Few scores whose positions are known only when it runs, as those of a ring's block: where no query sees a key the
// kernel costs next to nothing.
// CHECK-LABEL: func.func @may_be_hidden
// CHECK: exec.fused({{.*}}) -> tensor<128x16xf32>
// CHECK-NOT: exec.fused
// CHECK: return
func.func @may_be_hidden(%q: tensor<128x16xf32>, %k: tensor<128x16xf32>, %v: tensor<128x16xf32>, %first: tensor<i32>) -> tensor<128x16xf32> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %hidden = stablehlo.constant dense<-1.0e30> : tensor<128x128xf32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<128x16xf32>, tensor<128x16xf32>) -> tensor<128x128xf32>
  %rows = stablehlo.iota dim = 0 : tensor<128x128xi32>
  %columns = stablehlo.iota dim = 1 : tensor<128x128xi32>
  %from = stablehlo.broadcast_in_dim %first, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
  %keys = stablehlo.add %from, %columns : tensor<128x128xi32>
  %sees = stablehlo.compare GE, %rows, %keys : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
  %x = stablehlo.select %sees, %0, %hidden : tensor<128x128xi1>, tensor<128x128xf32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<128x128xf32>
  %e = stablehlo.exponential %2 : tensor<128x128xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
  %p = stablehlo.divide %e, %3 : tensor<128x128xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x16xf32>) -> tensor<128x16xf32>
  return %o : tensor<128x16xf32>
}
