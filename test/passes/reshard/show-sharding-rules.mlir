// RUN: tessera-opt %s --tessera-show-sharding-rules | FileCheck %s

// CHECK-LABEL: @contraction
func.func @contraction(%a: tensor<8x32x16xf32>, %b: tensor<8x64x16xf32>) -> tensor<8x32x64xf32> {
  // The contracted dimension reduces: only operands have it.
  // CHECK: dot_general {{.*}}([i, j, l], [i, k, l])->([i, j, k]) {i=8, j=32, k=64, l=16} reduction={l}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2]
      : (tensor<8x32x16xf32>, tensor<8x64x16xf32>) -> tensor<8x32x64xf32>
  return %0 : tensor<8x32x64xf32>
}

// CHECK-LABEL: @reshape
func.func @reshape(%a: tensor<8x16x32xf32>, %b: tensor<6x4xf32>) -> (tensor<4x32x32xf32>, tensor<4x6xf32>) {
  // CHECK: ([ij, k, l])->([i, jk, l]) {i=4, j=2, k=16, l=32}
  %0 = stablehlo.reshape %a : (tensor<8x16x32xf32>) -> tensor<4x32x32xf32>
  // What interleaves after the common part must be whole.
  // CHECK: ([ij, m])->([ik, l]) {i=2, j=3, k=2, l=6, m=4} need_replication={j, k, l, m}
  %1 = stablehlo.reshape %b : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %0, %1 : tensor<4x32x32xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: @slices
func.func @slices(%a: tensor<8x16xf32>, %i: tensor<i32>) -> (tensor<8x4xf32>, tensor<1x16xf32>) {
  // Rows cross shards, in a known pattern; what is taken whole passes through.
  // CHECK: slice {{.*}}([i, j])->([i, j]) {i=8, j=16} permutation={j}
  %0 = stablehlo.slice %a [0:8, 4:8] : (tensor<8x16xf32>) -> tensor<8x4xf32>
  // CHECK: dynamic_slice {{.*}}([i, k], [], [])->([j, k]) {i=8, j=1, k=16} reduction={i} need_replication={j}
  %1 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<1x16xf32>
}

// CHECK-LABEL: @gather
func.func @gather(%table: tensor<640x192xf32>, %rows: tensor<8x96x1xi32>) -> tensor<8x96x192xf32> {
  // A device finds the rows of its shard and zero for the others: a reduction.
  // CHECK: ([l, m], [i, j, k])->([i, j, m]) {i=8, j=96, k=1, l=640, m=192} reduction={l} need_replication={k}
  %0 = "stablehlo.gather"(%table, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 192>}>
      : (tensor<640x192xf32>, tensor<8x96x1xi32>) -> tensor<8x96x192xf32>
  return %0 : tensor<8x96x192xf32>
}

// CHECK-LABEL: @argmax
func.func @argmax(%x: tensor<8x16xf32>, %i: tensor<8x16xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // A region that is neither a sum nor another kind that collectives combine: the op combines what shards make of their rows.
  // CHECK: reduce{{.*}}([i, j], [i, j], [], [])->([i], [i]) {i=8, j=16} permutation={j}
  %0:2 = stablehlo.reduce(%x init: %lowest), (%i init: %zero) across dimensions = [1]
      : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

// CHECK-LABEL: @convolutions
func.func @convolutions(%x: tensor<4x12x12x32xf32>, %w: tensor<3x3x32x16xf32>, %g: tensor<4x12x12x16xf32>)
    -> (tensor<4x12x12x16xf32>, tensor<3x3x32x16xf32>) {
  // CHECK: ([i, l, n, k], [m, o, k, j])->([i, l, n, j]) {{.*}} reduction={k} need_replication={m, o} permutation={l, n}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x12x12x32xf32>, tensor<3x3x32x16xf32>) -> tensor<4x12x12x16xf32>
  // The gradient of the kernel: the image reduces.
  // CHECK: ([k, l, n, i], [k, l, n, j])->([m, o, i, j]) {{.*}} reduction={k, l, n} need_replication={m, o}
  %1 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x12x12x32xf32>, tensor<4x12x12x16xf32>) -> tensor<3x3x32x16xf32>
  return %0, %1 : tensor<4x12x12x16xf32>, tensor<3x3x32x16xf32>
}

// CHECK-LABEL: @einsum
func.func @einsum(%a: tensor<8x32x16xf32>, %b: tensor<8x64x16xf32>, %c: tensor<8x8xf32>) -> (tensor<8x64x32xf32>, tensor<64x8xf32>, tensor<8xf32>) {
  // CHECK: einsum {{.*}}([i, j, k], [i, l, k])->([i, l, j]) {i=8, j=32, k=16, l=64} reduction={k}
  %0 = stablehlo.einsum %a, %b, config = "bmk,bnk->bnm" : (tensor<8x32x16xf32>, tensor<8x64x16xf32>) -> tensor<8x64x32xf32>
  // CHECK: unary_einsum {{.*}}([i, j, k])->([j, i]) {i=8, j=64, k=16} reduction={k}
  %1 = stablehlo.unary_einsum %b, config = "bnk->nb" : (tensor<8x64x16xf32>) -> tensor<64x8xf32>
  // A diagonal: its dimensions stay whole.
  // CHECK: unary_einsum {{.*}}([i, j])->([k])
  %2 = stablehlo.unary_einsum %c, config = "aa->a" : (tensor<8x8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8x64x32xf32>, tensor<64x8xf32>, tensor<8xf32>
}
