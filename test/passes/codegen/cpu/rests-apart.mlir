// Rows of 12 pairs are less than a vector: its last lanes are off. What is there of two registers is read and written, and
// pairs are taken apart and put together in between, as of whole vectors; no element is gathered or scattered.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll

// CHECK-NOT: llvm.masked.gather
// CHECK-NOT: llvm.masked.scatter
// CHECK: call <32 x float> @llvm.masked.load
// CHECK: store <16 x
// CHECK: call void @llvm.masked.store
// CHECK-NOT: llvm.masked.gather
// CHECK-NOT: llvm.masked.scatter
exec.kernel @turned_pairs(%x: tensor<512x8x24xf32>, %c: tensor<512x12xf32>, %s: tensor<512x12xf32>) -> tensor<512x8x12x2xf32> {
  %0 = stablehlo.slice %x [0:512, 0:8, 0:24:2] : (tensor<512x8x24xf32>) -> tensor<512x8x12xf32>
  %1 = stablehlo.slice %x [0:512, 0:8, 1:24:2] : (tensor<512x8x24xf32>) -> tensor<512x8x12xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [0, 2] : (tensor<512x12xf32>) -> tensor<512x8x12xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<512x12xf32>) -> tensor<512x8x12xf32>
  %4 = stablehlo.multiply %0, %2 : tensor<512x8x12xf32>
  %5 = stablehlo.multiply %1, %3 : tensor<512x8x12xf32>
  %6 = stablehlo.subtract %4, %5 : tensor<512x8x12xf32>
  %7 = stablehlo.multiply %0, %3 : tensor<512x8x12xf32>
  %8 = stablehlo.multiply %1, %2 : tensor<512x8x12xf32>
  %9 = stablehlo.add %7, %8 : tensor<512x8x12xf32>
  %10 = stablehlo.reshape %6 : (tensor<512x8x12xf32>) -> tensor<512x8x12x1xf32>
  %11 = stablehlo.reshape %9 : (tensor<512x8x12xf32>) -> tensor<512x8x12x1xf32>
  %12 = stablehlo.concatenate %10, %11, dim = 3 : (tensor<512x8x12x1xf32>, tensor<512x8x12x1xf32>) -> tensor<512x8x12x2xf32>
  exec.yield %12 : tensor<512x8x12x2xf32>
}
