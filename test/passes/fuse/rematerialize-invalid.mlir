// Where nothing fits, the error names the least memory that does, and what is largest.
// RUN: not tessera-opt --tessera-rematerialize %s 2>&1 | FileCheck %s
// RUN: not tessera-opt --tessera-rematerialize=tries-least=false %s 2>&1 | FileCheck %s --check-prefix=QUICK
// RUN: sed 's/memory = 4096/memory = 245760/' %s | tessera-opt --tessera-rematerialize -o -

// QUICK: error: nothing was found that fits into the memory of each device
// CHECK: error: the program does not fit into the memory of each device: with all that helps computed again it needs 245760 bytes. Allow --memory=245760, or shard what is largest at its peak: 64.0 KiB of dot_general
module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 4096>} {
  func.func @main(%x: tensor<64x64xf32>, %v: tensor<64x256xf32>, %w: tensor<256x64xf32>) -> tensor<64x64xf32> {
    %a = stablehlo.tanh %x : tensor<64x64xf32>
    %b = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %d = stablehlo.dot_general %c, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %d : tensor<64x64xf32>
  }
}
