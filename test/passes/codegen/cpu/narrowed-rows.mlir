// A product of bf16 whose result is bf16, too: a tile's sums are narrowed from the registers that hold them, two at a time,
// and its eight rows are stored, where a loop over rows would read them from the stack.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @product
// CHECK-NOT: call {{.*}}avx512bf16.cvt
// CHECK-COUNT-16: call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512
// CHECK-COUNT-8: call <32 x bfloat> @llvm.x86.avx512bf16.cvtne2ps2bf16.512
// CHECK-NOT: call {{.*}}avx512bf16.cvt
exec.kernel @product(%a: tensor<256x64xbf16>, %b: tensor<64x128xbf16>) -> tensor<256x128xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x64xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
  exec.yield %0 : tensor<256x128xbf16>
}
