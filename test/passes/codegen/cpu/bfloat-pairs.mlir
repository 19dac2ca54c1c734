// A product of bf16 by pairs (vdpbf16ps): its operands are only moved, so their copies are of bits. Rows change the places of a pair's
// halves; nothing is widened, and nothing is rounded but the results.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @product
// CHECK-NOT: avx512bf16.cvt
// CHECK-NOT: fpext
// CHECK: call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512
// CHECK-NOT: avx512bf16.cvt
exec.kernel @product(%a: tensor<256x192xbf16>, %b: tensor<192x128xbf16>) -> tensor<256x128xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x192xbf16>, tensor<192x128xbf16>) -> tensor<256x128xf32>
  exec.yield %0 : tensor<256x128xf32>
}
