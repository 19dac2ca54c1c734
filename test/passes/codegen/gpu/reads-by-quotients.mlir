// Where quotients of a point's place say where it reads, neighbours read the same: blocks are twice as large, so that
// fewer rows are read by two of them.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s --check-prefix=PTX

// Each other row of the result is one of rows that are interleaved, but for the last of these.
// CHECK: exec.kernel @interleaved{{.*}} grid = 8 : i64
// PTX: .maxntid 512
exec.kernel @interleaved(%x: tensor<8x1x128xf32>, %y: tensor<8x1x128xf32>, %zero: tensor<f32>) -> tensor<32x128xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<8x1x128xf32>, tensor<8x1x128xf32>) -> tensor<8x2x128xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x2x128xf32>) -> tensor<16x128xf32>
  %2 = stablehlo.slice %1 [0:15, 0:128] : (tensor<16x128xf32>) -> tensor<15x128xf32>
  %3 = stablehlo.pad %2, %zero, low = [2, 0], high = [1, 0], interior = [1, 0] : (tensor<15x128xf32>, tensor<f32>) -> tensor<32x128xf32>
  exec.yield %3 : tensor<32x128xf32>
}
