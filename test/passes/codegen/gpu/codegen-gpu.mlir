// Kernels become text in PTX, one for each architecture, newest first, and blocks of threads as cells.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80,sm_90a" --tessera-codegen-gpu | FileCheck %s
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s --check-prefix=CODE
// What runs again replaces what was there.
// RUN: tessera-opt %t.mlir --tessera-codegen-gpu | FileCheck %s --check-prefix=AGAIN

// 256 rows of 4096, four elements a thread.
// CHECK: exec.kernel @side_by_side{{.*}} attributes {flops = {{.*}}, grid = 1024 : i64, scratch_bytes = 0 : i64}
// CHECK: exec.image "cuda" for "sm_90a" ["ptx80"] {{.*}} {threads = array<i64: 256, 256, 256, 256>}
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

// What lies apart is read one by one.
// CODE: .visible .entry across(
// CODE: ld.global.b32
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

// A longer row is added up by the threads together: 62 fours of units, lane by lane, through shared memory.
// CODE: .visible .entry sums_of_rows(
// CODE: .shared .align 16 .b8 sums_of_rows_sums[3968]
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
