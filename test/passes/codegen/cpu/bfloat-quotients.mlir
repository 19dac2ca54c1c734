// A row of bf16 is divided by a number that it shares as a product with the reciprocal, which rounds to the quotient; a row by
// another is divided element by element.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @shared
// CHECK: call <16 x float> @llvm.x86.avx512.mask.getmant.ps.512(
// CHECK-COUNT-1: fdiv float
// CHECK: fmul <64 x float>
// CHECK: fdiv <64 x float>
// CHECK-NOT: fdiv <
exec.kernel @shared(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>, %by: tensor<64xbf16>) -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
  %0 = stablehlo.broadcast_in_dim %by, dims = [0] : (tensor<64xbf16>) -> tensor<64x64xbf16>
  %1 = stablehlo.divide %x, %0 : tensor<64x64xbf16>
  %2 = stablehlo.divide %x, %y : tensor<64x64xbf16>
  exec.yield %1, %2 : tensor<64x64xbf16>, tensor<64x64xbf16>
}
