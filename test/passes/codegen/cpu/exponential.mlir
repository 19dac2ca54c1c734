// An exponential by table bounds what its polynomial is of, by one instruction, and not its operand by comparisons; without AVX-512
// there is no table. Four registers take turns with its steps, which wait for each other, where there are 32 of them; without AVX-512 two.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll
// RUN: env TESSERA_DUMP_LLVM=%t.v3.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t.v3.out
// RUN: FileCheck %s --input-file=%t.v3.ll --check-prefix=NONE

// CHECK: define i32 @exponential
// CHECK: load <64 x float>
// CHECK-NOT: fcmp
// CHECK: call <16 x float> @llvm.x86.avx512.mask.range.ps.512({{.*}}, i32 2, {{.*}}, i16 -1, i32 4)
// CHECK: call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(
// NONE: define i32 @exponential
// NONE: load <16 x float>
// NONE: fcmp olt
// NONE-NOT: avx512
exec.kernel @exponential(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.exponential %x : tensor<64x64xf32>
  exec.yield %0 : tensor<64x64xf32>
}
