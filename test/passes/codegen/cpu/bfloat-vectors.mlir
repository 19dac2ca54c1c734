// bf16 by whole registers, where the processor has instructions for it: a result is rounded once, not for its operation and again
// for memory, and two registers of f32 by one instruction. Others round its bits.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll
// RUN: env TESSERA_DUMP_LLVM=%t.v4.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.v4.out
// RUN: FileCheck %s --input-file=%t.v4.ll --check-prefix=BITS

// CHECK: define i32 @scaled
// CHECK: call <32 x i16> @llvm.x86.avx512.permvar.hi.512(
// CHECK: call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(
// CHECK-COUNT-2: call <32 x bfloat> @llvm.x86.avx512bf16.cvtne2ps2bf16.512(
// CHECK: fmul <64 x float>
// CHECK-COUNT-2: call <32 x bfloat> @llvm.x86.avx512bf16.cvtne2ps2bf16.512(
// CHECK-NOT: call <32 x bfloat>
// BITS: define i32 @scaled
// BITS: fmul <64 x float>
// BITS-NOT: permvar.hi
// BITS: trunc <64 x i32> {{.*}} to <64 x i16>
exec.kernel @scaled(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = stablehlo.exponential %x : tensor<64x64xbf16>
  %1 = stablehlo.multiply %0, %y : tensor<64x64xbf16>
  exec.yield %1 : tensor<64x64xbf16>
}
