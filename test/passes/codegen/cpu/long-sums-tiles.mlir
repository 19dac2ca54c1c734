// Long sums of bf16 by AMX go in blocks of 4,096 terms: panels of b are one block's, and a cell's sums wait beside them. All of k would be
// panels of 64 columns, of more than twice the bytes.
// RUN: tessera-opt %s --tessera-set-target="target=cpu processors=sapphirerapids" --tessera-generate-code | FileCheck %s

// 96 columns of b's block, and 128 x 96 sums.
// CHECK: exec.kernel @product{{.*}} scratch_bytes = 835584 : i64
exec.kernel @product(%a: tensor<256x16384xbf16>, %b: tensor<16384x256xbf16>) -> tensor<256x256xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x16384xbf16>, tensor<16384x256xbf16>) -> tensor<256x256xbf16>
  exec.yield %0 : tensor<256x256xbf16>
}
