// Kernels become text in PTX, one for each architecture, newest first, and blocks of threads as cells.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80,sm_90a" --tessera-codegen-gpu | FileCheck %s
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s --check-prefix=CODE
// What runs again replaces what was there.
// RUN: tessera-opt %t.mlir --tessera-codegen-gpu | FileCheck %s --check-prefix=AGAIN

// 256 rows of 4096, four elements a thread.
// CHECK: exec.kernel @side_by_side{{.*}} attributes {flops = {{.*}}, grid = 1024 : i64, scratch_bytes = 0 : i64}
// CHECK: exec.image "cuda" for "sm_90a" ["ptx80"] {{.*}} {launches = [#exec.launch<threads = 256>, #exec.launch<threads = 256>, #exec.launch<threads = 256>, #exec.launch<threads = 256>, #exec.launch<threads = 256>, #exec.launch<threads = 256>, #exec.launch<threads = 256>, #exec.launch<threads = 128>]}
// CHECK: exec.image "cuda" for "sm_80" ["ptx80"]
// AGAIN-COUNT-1: exec.image
// AGAIN-NOT: exec.image

// CODE: .target sm_80
// One access of 16 bytes each; products and sums are rounded apart.
// CODE: .visible .entry side_by_side(
// CODE: ld.global.v4.b32
// CODE: ld.global.v4.b32
// CODE: mul.rn.ftz.f32
// CODE: add.rn.ftz.f32
// CODE-NOT: fma
// CODE: st.global.v4.b32
exec.kernel @side_by_side(%x: tensor<256x4096xf32>, %y: tensor<256x4096xf32>) -> tensor<256x4096xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<256x4096xf32>
  %1 = stablehlo.add %0, %x : tensor<256x4096xf32>
  exec.yield %1 : tensor<256x4096xf32>
}

// What lies across goes through shared memory, in lines of 33 elements.
// CODE: .visible .entry across(
// CODE: .shared .align 16 .b8 across_turned[4224]
// CODE: ld.global.b32
// CODE: st.shared.b32
// CODE: bar.sync
// CODE: ld.shared.b32
// CODE: st.global.b32
exec.kernel @across(%x: tensor<32x64xf32>) -> tensor<64x32xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
  exec.yield %0 : tensor<64x32xf32>
}

// All threads of a block read the row before one of them writes over it.
// CODE: .visible .entry rows(
// CODE: ld.global
// CODE: bar.sync
// CODE: st.global
exec.kernel @rows(%x: tensor<16x60xf32>) -> tensor<16x60xf32> attributes {inplace = array<i64: 0>} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x60xf32>, tensor<f32>) -> tensor<16xf32>
  %wide = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<16xf32>) -> tensor<16x60xf32>
  %0 = stablehlo.subtract %x, %wide : tensor<16x60xf32>
  exec.yield %0 : tensor<16x60xf32>
}

// A longer row is added up by the threads together: 62 fours of units and what is left over, lane by lane, through shared memory,
// beside 16,064 bytes of the row and 8 of its sum.
// CODE: .visible .entry sums_of_rows(
// CODE: .shared .align 16 .b8 sums_of_rows_rows[20232]
// CODE: ld.global
// CODE: st.shared
// CODE: bar.sync
// CODE: ld.shared
// CODE: bar.sync
// CODE: st.global
exec.kernel @sums_of_rows(%x: tensor<16x4000xf32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x4000xf32>, tensor<f32>) -> tensor<16xf32>
  exec.yield %sum : tensor<16xf32>
}

// A row is kept in shared memory: it is read once, though two passes need it. A block has sixteen, of sixteen threads
// each, which have all of a sum in registers.
// CODE: .visible .entry kept(
// CODE: .shared .align 16 .b8 kept_rows[17536]
// CODE: ld.global.v4.b32
// CODE: st.shared.v4.b32
// CODE: bar.sync
// CODE-NOT: bar.sync
// CODE-COUNT-4: shfl.sync.bfly.b32
// CODE: bar.sync
// CODE-NOT: ld.global
// CODE: st.global.v4.b32
exec.kernel @kept(%x: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x256xf32>, tensor<f32>) -> tensor<16xf32>
  %wide = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<16xf32>) -> tensor<16x256xf32>
  %0 = stablehlo.subtract %x, %wide : tensor<16x256xf32>
  exec.yield %0 : tensor<16x256xf32>
}

// What is computed for the first sum is kept for the second one, which reads it from the other end, where another
// thread has put it away.
// CODE: .visible .entry kept_and_turned(
// CODE: st.shared.b32
// CODE: shfl.sync.bfly.b32
// CODE: bar.sync
// CODE: ld.shared.b32
// CODE: shfl.sync.bfly.b32
exec.kernel @kept_and_turned(%x: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.exponential %x : tensor<16x256xf32>
  %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x256xf32>, tensor<f32>) -> tensor<16xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<16xf32>) -> tensor<16x256xf32>
  %r = stablehlo.reverse %y, dims = [1] : tensor<16x256xf32>
  %q = stablehlo.divide %r, %sb : tensor<16x256xf32>
  %t = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x256xf32>, tensor<f32>) -> tensor<16xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<16xf32>) -> tensor<16x256xf32>
  %o = stablehlo.multiply %y, %tb : tensor<16x256xf32>
  exec.yield %o : tensor<16x256xf32>
}

// Products by tiles: the right operand lies as it is wanted and is copied meanwhile, the left one goes
// through registers. Multiply-adds are fused.
// CODE: .visible .entry product(
// CODE: cp.async.cg.shared.global
// CODE: st.shared.b32
// CODE: cp.async.wait_all
// CODE: bar.sync
// CODE: ld.shared.v2.b32
// CODE: fma.rn.ftz.f32
// CODE: st.global.v4.b32
exec.kernel @product(%x: tensor<64x96xf32>, %y: tensor<96x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
  exec.yield %0 : tensor<64x64xf32>
}

// By tensor cores: the right operand lies with its columns side by side, and is turned as it is read.
// CODE: .visible .entry narrow_product(
// CODE: cp.async.cg.shared.global
// CODE: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CODE: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CODE: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
exec.kernel @narrow_product(%x: tensor<64x96xbf16>, %y: tensor<96x64xbf16>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x96xbf16>, tensor<96x64xbf16>) -> tensor<64x64xf32>
  exec.yield %0 : tensor<64x64xf32>
}
