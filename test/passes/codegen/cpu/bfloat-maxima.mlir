// A maximum of bf16 is one of 16-bit keys, made of what is loaded without widening it. What is computed is narrowed for it only where
// an instruction does that; elsewhere its keys are those of f32.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/moved.znver4.ll tessera-opt %t/moved.mlir --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t/moved.out
// RUN: FileCheck %s --input-file=%t/moved.znver4.ll --check-prefix=MOVED
// RUN: env TESSERA_DUMP_LLVM=%t/moved.x86-64-v4.ll tessera-opt %t/moved.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/moved.out
// RUN: FileCheck %s --input-file=%t/moved.x86-64-v4.ll --check-prefix=MOVED
// RUN: env TESSERA_DUMP_LLVM=%t/computed.znver4.ll tessera-opt %t/computed.mlir --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t/computed.out
// RUN: FileCheck %s --input-file=%t/computed.znver4.ll --check-prefix=NARROWED
// RUN: env TESSERA_DUMP_LLVM=%t/computed.x86-64-v4.ll tessera-opt %t/computed.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/computed.out
// RUN: FileCheck %s --input-file=%t/computed.x86-64-v4.ll --check-prefix=WIDE

//--- moved.mlir
// MOVED: define i32 @moved
// MOVED-NOT: x float>
// MOVED: call <16 x i16> @llvm.smax.v16i16(
exec.kernel @moved(%x: tensor<64x1024xbf16>) -> tensor<64xbf16> {
  %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<64x1024xbf16>, tensor<bf16>) -> tensor<64xbf16>
  exec.yield %0 : tensor<64xbf16>
}

//--- computed.mlir
// NARROWED: call <16 x i16> @llvm.smax.v16i16(
// WIDE: call <16 x i32> @llvm.smax.v16i32(
exec.kernel @computed(%x: tensor<64x1024xbf16>) -> tensor<64xbf16> {
  %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %0 = stablehlo.multiply %x, %x : tensor<64x1024xbf16>
  %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<64x1024xbf16>, tensor<bf16>) -> tensor<64xbf16>
  exec.yield %1 : tensor<64xbf16>
}
