// Products whose rows, or contracted elements, fall into groups are one kernel each, with what selects them. Guards against the
// product with every group in memory, and against kernels of products of which a row may keep several.
// RUN: tessera-opt %s --tessera-form-grouped-products | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK:         %[[R:.*]] = exec.fused(%{{.*}} = %arg0 : tensor<64x32xf32>, %{{.*}} = %arg1 : tensor<4x32x48xf32>, %{{.*}} = %arg2 : tensor<64xi32>) -> tensor<64x48xf32>
// CHECK:           stablehlo.dot_general
// CHECK:           stablehlo.compare EQ
// CHECK:           stablehlo.reduce(
// CHECK:         return %[[R]]
func.func @rows(%x: tensor<64x32xf32>, %w: tensor<4x32x48xf32>, %group: tensor<64xi32>) -> tensor<64x48xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4x48xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<4x32x48xf32>) -> tensor<64x4x48xf32>
  %g = stablehlo.broadcast_in_dim %group, dims = [0] : (tensor<64xi32>) -> tensor<64x4x48xi32>
  %i = stablehlo.iota dim = 1 : tensor<64x4x48xi32>
  %own = stablehlo.compare EQ, %g, %i : (tensor<64x4x48xi32>, tensor<64x4x48xi32>) -> tensor<64x4x48xi1>
  %q = stablehlo.select %own, %p, %zeros : tensor<64x4x48xi1>, tensor<64x4x48xf32>
  %r = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x4x48xf32>, tensor<f32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// On a device that has some of the groups, of which the last is padding: their numbers begin with its first one.
// CHECK-LABEL: func.func @part
// CHECK:         exec.fused
// CHECK-NOT:     stablehlo.dot_general %arg0
func.func @part(%x: tensor<64x32xf32>, %w: tensor<4x32x48xf32>, %group: tensor<64xi32>, %first: tensor<i32>) -> tensor<64x48xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4x48xf32>
  %end = stablehlo.constant dense<7> : tensor<64x4x48xi32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<4x32x48xf32>) -> tensor<64x4x48xf32>
  %g = stablehlo.broadcast_in_dim %group, dims = [0] : (tensor<64xi32>) -> tensor<64x4x48xi32>
  %i = stablehlo.iota dim = 1 : tensor<64x4x48xi32>
  %f = stablehlo.broadcast_in_dim %first, dims = [] : (tensor<i32>) -> tensor<64x4x48xi32>
  %n = stablehlo.add %i, %f : tensor<64x4x48xi32>
  %own = stablehlo.compare EQ, %g, %n : (tensor<64x4x48xi32>, tensor<64x4x48xi32>) -> tensor<64x4x48xi1>
  %q = stablehlo.select %own, %p, %zeros : tensor<64x4x48xi1>, tensor<64x4x48xf32>
  %there = stablehlo.compare LT, %n, %end : (tensor<64x4x48xi32>, tensor<64x4x48xi32>) -> tensor<64x4x48xi1>
  %s = stablehlo.select %there, %q, %zeros : tensor<64x4x48xi1>, tensor<64x4x48xf32>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x4x48xf32>, tensor<f32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// A row that begins before the end of several groups keeps the sum of their products.
// CHECK-LABEL: func.func @several
// CHECK-NOT:     exec.fused
func.func @several(%x: tensor<64x32xf32>, %w: tensor<4x32x48xf32>, %group: tensor<64xi32>) -> tensor<64x48xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4x48xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<4x32x48xf32>) -> tensor<64x4x48xf32>
  %g = stablehlo.broadcast_in_dim %group, dims = [0] : (tensor<64xi32>) -> tensor<64x4x48xi32>
  %i = stablehlo.iota dim = 1 : tensor<64x4x48xi32>
  %own = stablehlo.compare LE, %g, %i : (tensor<64x4x48xi32>, tensor<64x4x48xi32>) -> tensor<64x4x48xi1>
  %q = stablehlo.select %own, %p, %zeros : tensor<64x4x48xi1>, tensor<64x4x48xf32>
  %r = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x4x48xf32>, tensor<f32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// Contracted elements of which each group has some that lie together.
// CHECK-LABEL: func.func @terms
// CHECK:         exec.fused({{.*}}) -> tensor<4x32x48xf32>
// CHECK-COUNT-2:   stablehlo.select
// CHECK:           stablehlo.dot_general
func.func @terms(%x: tensor<64x32xf32>, %y: tensor<64x48xf32>, %start: tensor<4xi32>, %end: tensor<4xi32>) -> tensor<4x32x48xf32> {
  %zx = stablehlo.constant dense<0.0> : tensor<4x64x32xf32>
  %zy = stablehlo.constant dense<0.0> : tensor<4x64x48xf32>
  %0 = stablehlo.iota dim = 1 : tensor<4x64xi32>
  %1 = stablehlo.broadcast_in_dim %start, dims = [0] : (tensor<4xi32>) -> tensor<4x64xi32>
  %2 = stablehlo.broadcast_in_dim %end, dims = [0] : (tensor<4xi32>) -> tensor<4x64xi32>
  %3 = stablehlo.compare GE, %0, %1 : (tensor<4x64xi32>, tensor<4x64xi32>) -> tensor<4x64xi1>
  %4 = stablehlo.compare LT, %0, %2 : (tensor<4x64xi32>, tensor<4x64xi32>) -> tensor<4x64xi1>
  %in = stablehlo.and %3, %4 : tensor<4x64xi1>
  %px = stablehlo.broadcast_in_dim %in, dims = [0, 1] : (tensor<4x64xi1>) -> tensor<4x64x32xi1>
  %py = stablehlo.broadcast_in_dim %in, dims = [0, 1] : (tensor<4x64xi1>) -> tensor<4x64x48xi1>
  %bx = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<64x32xf32>) -> tensor<4x64x32xf32>
  %by = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<64x48xf32>) -> tensor<4x64x48xf32>
  %l = stablehlo.select %px, %bx, %zx : tensor<4x64x32xi1>, tensor<4x64x32xf32>
  %r = stablehlo.select %py, %by, %zy : tensor<4x64x48xi1>, tensor<4x64x48xf32>
  %d = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x64x32xf32>, tensor<4x64x48xf32>) -> tensor<4x32x48xf32>
  return %d : tensor<4x32x48xf32>
}

// Of one operand only: the other's infinities make NaN of its zeros.
// CHECK-LABEL: func.func @one_side
// CHECK-NOT:     exec.fused
func.func @one_side(%x: tensor<64x32xf32>, %y: tensor<4x64x48xf32>, %start: tensor<4xi32>) -> tensor<4x32x48xf32> {
  %zx = stablehlo.constant dense<0.0> : tensor<4x64x32xf32>
  %0 = stablehlo.iota dim = 1 : tensor<4x64x32xi32>
  %1 = stablehlo.broadcast_in_dim %start, dims = [0] : (tensor<4xi32>) -> tensor<4x64x32xi32>
  %in = stablehlo.compare GE, %0, %1 : (tensor<4x64x32xi32>, tensor<4x64x32xi32>) -> tensor<4x64x32xi1>
  %bx = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<64x32xf32>) -> tensor<4x64x32xf32>
  %l = stablehlo.select %in, %bx, %zx : tensor<4x64x32xi1>, tensor<4x64x32xf32>
  %d = stablehlo.dot_general %l, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x64x32xf32>, tensor<4x64x48xf32>) -> tensor<4x32x48xf32>
  return %d : tensor<4x32x48xf32>
}
