// Each of these is one way in which ops become kernels.
// RUN: tessera-opt %s --tessera-form-kernels --tessera-verify-fuse --split-input-file | FileCheck %s

// A row stays: its largest element, the exponentials, their sum and the quotients are one kernel. The sum
// is another result of it.
// CHECK-LABEL: func.func @rows
// CHECK: exec.fused({{.*}}) -> (tensor<64xf32>, tensor<64x128xf32>)
// CHECK-COUNT-2: stablehlo.reduce
// CHECK: stablehlo.divide
// CHECK-NOT: exec.fused
// CHECK: return
func.func @rows(%x: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<64x128xf32>
  %e = stablehlo.exponential %1 : tensor<64x128xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %q = stablehlo.divide %e, %2 : tensor<64x128xf32>
  return %q, %s : tensor<64x128xf32>, tensor<64xf32>
}

// -----

// A sum down the columns is finished before any element is scaled by it: no row to keep.
// CHECK-LABEL: func.func @columns
// CHECK: exec.fused({{.*}}) -> tensor<32xf32>
// CHECK: exec.fused({{.*}}) -> tensor<64x32xf32>
func.func @columns(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<32xf32>) -> tensor<64x32xf32>
  %q = stablehlo.multiply %x, %0 : tensor<64x32xf32>
  return %q : tensor<64x32xf32>
}

// -----

// A picked element of a computed array is computed alone.
// CHECK-LABEL: func.func @picked
// CHECK: exec.fused({{.*}}) -> tensor<2x32xf32>
// CHECK: stablehlo.add
// CHECK: "stablehlo.gather"
// CHECK-NOT: exec.fused
func.func @picked(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %i: tensor<2x1xi32>) -> tensor<2x32xf32> {
  %0 = stablehlo.add %x, %y : tensor<64x32xf32>
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x1xi32>) -> tensor<2x32xf32>
  return %1 : tensor<2x32xf32>
}

// -----

// So does a head's row: its square sum's root and what is scaled with it are one kernel.
// CHECK-LABEL: func.func @rows_of_a_head
// CHECK: exec.fused({{.*}}) -> tensor<64x32xf32>
// CHECK: stablehlo.reduce
// CHECK: stablehlo.multiply
// CHECK-NOT: exec.fused
// CHECK: return
func.func @rows_of_a_head(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %x : tensor<64x32xf32>
  %s = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  %r = stablehlo.rsqrt %s : tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<64xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

// -----

// Rows too short to keep. The exponential is read by the sum and after it: computed once, in a kernel of its own, as the contraction's epilogue.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[E:.*]] = exec.fused
// CHECK: dot_general
// CHECK-NEXT: exponential
// CHECK-NEXT: yield
// CHECK: %[[S:.*]] = exec.fused(%{{.*}} = %[[E]]
// CHECK: reduce
// CHECK: exec.fused(
// CHECK: broadcast_in_dim
// CHECK-NEXT: divide
// CHECK-NOT: exec.fused
func.func @softmax(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %e = stablehlo.exponential %d : tensor<8x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %q = stablehlo.divide %e, %b : tensor<8x4xf32>
  return %q : tensor<8x4xf32>
}

// -----

// An optimiser's step: both new states come out of one kernel.
// CHECK-LABEL: func.func @step
// CHECK: exec.fused({{.*}}) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NOT: exec.fused
// CHECK: return
func.func @step(%p: tensor<8xf32>, %m: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<0.9> : tensor<8xf32>
  %0 = stablehlo.multiply %m, %c : tensor<8xf32>
  %1 = stablehlo.add %0, %g : tensor<8xf32>
  %2 = stablehlo.subtract %p, %1 : tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What a collective reads ends its kernel, even when more would fit in.
// CHECK-LABEL: func.func @collective
// CHECK: %[[A:.*]] = exec.fused
// CHECK-NEXT: add
// CHECK-NEXT: yield
// CHECK: comm.all_reduce sum(%[[A]])
// CHECK: exec.fused
// CHECK: tanh
func.func @collective(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  %1 = comm.all_reduce sum(%0) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.tanh %0 : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Joining %0 as an output of the last kernel would make it wait for its own result.
// CHECK-LABEL: func.func @cycle
// CHECK: %[[A:.*]] = exec.fused
// CHECK: exponential
// CHECK: %[[S:.*]] = exec.fused(%{{.*}} = %[[A]]
// CHECK: "stablehlo.sort"
// CHECK: exec.fused
// CHECK: add
func.func @cycle(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.exponential %x : tensor<8xf32>
  %1 = "stablehlo.sort"(%0) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// The slice of a stacked weight and its transpose are how the contraction reads it; reshapes of values in memory stay views.
// CHECK-LABEL: func.func @operands
// CHECK-NOT: exec.fused
// CHECK: stablehlo.reshape %arg0
// CHECK: exec.fused
// CHECK: dynamic_slice
// CHECK: dot_general
// CHECK-NOT: exec.fused
// CHECK: return
func.func @operands(%x: tensor<2x4x16xf32>, %w: tensor<3x4x16xf32>, %i: tensor<i32>) -> tensor<8x4xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reshape %x : (tensor<2x4x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.dynamic_slice %w, %i, %z, %z, sizes = [1, 4, 16] : (tensor<3x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x16xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x4x16xf32>) -> tensor<4x16xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %4 = stablehlo.dot_general %0, %3, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// Of what a product is, the gradient of the maximum needs the signs: these are in memory, a byte each.
// CHECK-LABEL: func.func @signs
// CHECK: exec.fused({{.*}}) -> (tensor<64x32xf32>, tensor<64x32xi1>)
// CHECK: dot_general
// CHECK: stablehlo.compare
// CHECK: exec.fused({{.*}}: tensor<64x32xi1>{{.*}}) -> tensor<64x32xf32>
// CHECK-NOT: stablehlo.compare
// CHECK: stablehlo.select
func.func @signs(%x: tensor<64x16xf32>, %w: tensor<16x32xf32>, %b: tensor<32xf32>, %v: tensor<32x32xf32>) -> tensor<64x32xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<64x32xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x32xf32>
  %h = stablehlo.maximum %2, %z : tensor<64x32xf32>
  %s = stablehlo.compare GT, %2, %z, FLOAT : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xi1>
  %g = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %t = stablehlo.transpose %g, dims = [0, 1] : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %e = stablehlo.exponential %t : tensor<64x32xf32>
  %u = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %r = stablehlo.select %s, %u, %z : tensor<64x32xi1>, tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// -----

// What is computed of an array that an update changes a small part of is made before: in one kernel the array
// could not be updated where it lies. Where the part is most of it, and where another array is read, one kernel.
// CHECK-LABEL: func.func @updated
// CHECK: %[[ROW:.*]] = exec.fused({{.*}}) -> tensor<1x64xf32>
// CHECK: stablehlo.dynamic_slice
// CHECK: exec.fused({{.*}}%[[ROW]]{{.*}}) -> tensor<64x64xf32>
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: stablehlo.dynamic_update_slice
// CHECK: exec.fused({{.*}}) -> tensor<64x64xf32>
// CHECK: stablehlo.dynamic_slice
// CHECK: stablehlo.dynamic_update_slice
// CHECK: exec.fused({{.*}}) -> tensor<64x64xf32>
// CHECK: stablehlo.dynamic_slice
// CHECK: stablehlo.dynamic_update_slice
func.func @updated(%x: tensor<64x64xf32>, %y: tensor<4096xf32>, %i: tensor<i32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.dynamic_slice %x, %i, %z, sizes = [1, 64] : (tensor<64x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
  %s = stablehlo.sine %r : tensor<1x64xf32>
  %u = stablehlo.dynamic_update_slice %x, %s, %i, %z : (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  %h = stablehlo.dynamic_slice %x, %i, %z, sizes = [32, 64] : (tensor<64x64xf32>, tensor<i32>, tensor<i32>) -> tensor<32x64xf32>
  %t = stablehlo.sine %h : tensor<32x64xf32>
  %v = stablehlo.dynamic_update_slice %x, %t, %i, %z : (tensor<64x64xf32>, tensor<32x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  %o = stablehlo.dynamic_slice %y, %i, sizes = [64] : (tensor<4096xf32>, tensor<i32>) -> tensor<64xf32>
  %p = stablehlo.reshape %o : (tensor<64xf32>) -> tensor<1x64xf32>
  %w = stablehlo.dynamic_update_slice %x, %p, %i, %z : (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  return %u, %v, %w : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The same of a view of it, which is no other array.
// CHECK-LABEL: func.func @updated_view
// CHECK: exec.fused({{.*}}) -> tensor<64xf32>
// CHECK: stablehlo.dynamic_slice
// CHECK: exec.fused({{.*}}) -> tensor<64x64xf32>
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: stablehlo.dynamic_update_slice
func.func @updated_view(%x: tensor<64x64xf32>, %i: tensor<i32>) -> tensor<64x64xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %e = stablehlo.reshape %x : (tensor<64x64xf32>) -> tensor<4096xf32>
  %r = stablehlo.dynamic_slice %e, %i, sizes = [64] : (tensor<4096xf32>, tensor<i32>) -> tensor<64xf32>
  %s = stablehlo.sine %r : tensor<64xf32>
  %t = stablehlo.reshape %s : (tensor<64xf32>) -> tensor<1x64xf32>
  %u = stablehlo.dynamic_update_slice %x, %t, %i, %z : (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  return %u : tensor<64x64xf32>
}

// -----

// A real product's tiles are not stored as pairs: what makes complex numbers of it is another kernel.
// CHECK-LABEL: func.func @pairs
// CHECK: exec.fused({{.*}}) -> tensor<64x48xf32>
// CHECK: stablehlo.dot_general
// CHECK: exec.fused({{.*}}) -> tensor<64x48xcomplex<f32>>
// CHECK-NOT: stablehlo.dot_general
// CHECK: stablehlo.complex
func.func @pairs(%x: tensor<64x32xf32>, %y: tensor<32x48xf32>, %z: tensor<64x48xf32>) -> tensor<64x48xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %1 = stablehlo.complex %0, %z : tensor<64x48xcomplex<f32>>
  return %1 : tensor<64x48xcomplex<f32>>
}

// -----

// Of a scan's two results one is read: the products of the gates are not written.
// CHECK-LABEL: func.func @scan
// CHECK: exec.fused({{.*}}) -> tensor<64x32xf32>
// CHECK: %[[SCAN:.*]]:2 = "stablehlo.reduce_window"
// CHECK: exec.yield %[[SCAN]]#1 : tensor<64x32xf32>
func.func @scan(%gates: tensor<64x32xf32>, %x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = "stablehlo.reduce_window"(%gates, %x, %one, %zero) <{padding = dense<[[63, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 64, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.multiply %a, %c : tensor<f32>
    %2 = stablehlo.multiply %c, %b : tensor<f32>
    %3 = stablehlo.add %2, %d : tensor<f32>
    stablehlo.return %1, %3 : tensor<f32>, tensor<f32>
  }) : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<f32>) -> (tensor<64x32xf32>, tensor<64x32xf32>)
  return %0#1 : tensor<64x32xf32>
}

// -----

// Gathers cut no loop, and neither do their indices that are joined of one array for each dimension.
// CHECK-LABEL: func.func @elements
// CHECK-NEXT: exec.fused({{.*}}) -> tensor<500xf32>
// CHECK-COUNT-3: "stablehlo.gather"
// CHECK-NOT: exec.fused
// CHECK: return
func.func @elements(%x: tensor<30x30xf32>, %i: tensor<500x1xi32>, %j: tensor<500x1xi32>) -> tensor<500xf32> {
  %0 = stablehlo.concatenate %i, %j, dim = 1 : (tensor<500x1xi32>, tensor<500x1xi32>) -> tensor<500x2xi32>
  %1 = stablehlo.concatenate %j, %i, dim = 1 : (tensor<500x1xi32>, tensor<500x1xi32>) -> tensor<500x2xi32>
  %2 = stablehlo.concatenate %i, %i, dim = 1 : (tensor<500x1xi32>, tensor<500x1xi32>) -> tensor<500x2xi32>
  %3 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<30x30xf32>, tensor<500x2xi32>) -> tensor<500xf32>
  %4 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<30x30xf32>, tensor<500x2xi32>) -> tensor<500xf32>
  %5 = "stablehlo.gather"(%x, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<30x30xf32>, tensor<500x2xi32>) -> tensor<500xf32>
  %6 = stablehlo.add %3, %4 : tensor<500xf32>
  %7 = stablehlo.add %6, %5 : tensor<500xf32>
  return %7 : tensor<500xf32>
}
