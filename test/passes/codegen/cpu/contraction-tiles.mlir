// A product of bf16 where the target has AMX: tiles of b's copy and of a as it lies, so that the scratch holds b alone; this
// machine need not have them. Without AMX no instruction of tiles is there.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=sapphirerapids" --tessera-generate-code | FileCheck %s
// RUN: FileCheck %s --input-file=%t.ll --check-prefix=LLVM
// RUN: env TESSERA_DUMP_LLVM=%t.v4.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.v4.mlir
// RUN: FileCheck %s --input-file=%t.v4.ll --check-prefix=NONE

// CHECK: exec.kernel @product{{.*}} scratch_bytes = 16384 : i64
// LLVM: call void @llvm.x86.ldtilecfg(
// LLVM: call void @llvm.x86.tileloadd64(i8 4, ptr %{{.*}}, i64 256)
// LLVM: call void @llvm.x86.tileloadd64(i8 6, ptr %{{.*}}, i64 128)
// LLVM: call void @llvm.x86.tdpbf16ps(i8 0, i8 4, i8 6)
// LLVM: call void @llvm.x86.tileloadd64(i8 7, ptr %{{.*}}, i64 128)
// LLVM: call void @llvm.x86.tdpbf16ps(i8 1, i8 4, i8 7)
// LLVM: call void @llvm.x86.tileloadd64(i8 5, ptr %{{.*}}, i64 256)
// LLVM: call void @llvm.x86.tdpbf16ps(i8 2, i8 5, i8 6)
// LLVM: call void @llvm.x86.tdpbf16ps(i8 3, i8 5, i8 7)
// LLVM: call void @llvm.x86.tilestored64(i8 0, ptr %{{.*}}, i64 256)
// LLVM: call void @llvm.x86.tilerelease(
// NONE: define i32 @product
// NONE-NOT: llvm.x86.t
exec.kernel @product(%a: tensor<64x128xbf16>, %b: tensor<128x64xbf16>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x128xbf16>, tensor<128x64xbf16>) -> tensor<64x64xf32>
  exec.yield %0 : tensor<64x64xf32>
}
