// A product whose panels have no room beside the arrays has smaller ones; what has room keeps its size.
// RUN: tessera-opt %s --split-input-file --tessera-bound-scratch | FileCheck %s

// 64 KB live while both run, which leaves 8 KB and, later, all: the panels of b, 256 KB, are made smaller once.
// CHECK: exec.kernel @product({{.*}} attributes {most_scratch = 8192 : i64, scratch_bytes = [[BYTES:[0-9]+]] : i64}
// CHECK: exec.kernel @other({{.*}} attributes {scratch_bytes = {{[1-9][0-9]+}} : i64}
module attributes {tessera.target = #tessera.target<cpu, <"x86-64-v4", vector_bits = 512, features = ["avx2", "fma", "avx512f"]>>,
                   tessera.schedule = #tessera.schedule<overlap = auto, memory = 900000, scratch_within = 73728>} {
  exec.kernel @product(%x: tensor<64x64xf32>, %w: tensor<128x64xf32>) -> tensor<64x128xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<64x128xf32>
    exec.yield %0 : tensor<64x128xf32>
  }
  exec.kernel @other(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    exec.yield %0 : tensor<64x64xf32>
  }
  exec.program @main arena 65536 constants 0
      inputs [#exec.param<name = "", local = tensor<64x64xf32>, global = tensor<64x64xf32>>, #exec.param<name = "", local = tensor<128x64xf32>, global = tensor<128x64xf32>>]
      outputs [#exec.param<name = "", local = tensor<64x64xf32>, global = tensor<64x64xf32>>] {
    %x = exec.buffer input 0 : tensor<64x64xf32>
    %w = exec.buffer input 1 : tensor<128x64xf32>
    %y = exec.buffer output 0 : tensor<64x64xf32>
    %a = exec.buffer arena at 0 : tensor<64x128xf32> {array = array<i64: 0, 32768, 1, 6>}
    %b = exec.buffer arena at 32768 : tensor<64x128xf32> {array = array<i64: 32768, 32768, 1, 6>}
    exec.dispatch @product(%x, %w) -> (%a) time 0
    exec.dispatch @product(%x, %w) -> (%b) time 4
    exec.dispatch @other(%x, %x) -> (%y) time 8
  }
}

// -----

// Without a schedule that asks for it nothing is changed.
// CHECK: exec.kernel @unbounded(%{{.*}}) -> tensor<64x128xf32> {
module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 1000>} {
  exec.kernel @unbounded(%x: tensor<64x64xf32>, %w: tensor<128x64xf32>) -> tensor<64x128xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<64x128xf32>
    exec.yield %0 : tensor<64x128xf32>
  }
}
