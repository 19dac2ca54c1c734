// With AVX-512, too: rows of a that lie side by side are copied tile by tile, [tile][k][rows], so that a tile reads lines in order; an a of many
// megabytes, which was read where it lies again for each panel of b, is copied; and so is b for 16 rows and long sums.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/turned.ll tessera-opt %t/turned.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/turned.out
// RUN: FileCheck %s --input-file=%t/turned.ll --check-prefix=TURNED
// RUN: env TESSERA_DUMP_LLVM=%t/large.ll tessera-opt %t/large.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/large.out
// RUN: FileCheck %s --input-file=%t/large.ll --check-prefix=LARGE
// RUN: env TESSERA_DUMP_LLVM=%t/few.ll tessera-opt %t/few.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/few.out
// RUN: FileCheck %s --input-file=%t/few.ll --check-prefix=FEW

//--- turned.mlir
// Tiles of eight rows; nothing is asked for ahead of time beside cells of so many sums.
// TURNED: define i32 @turned
// TURNED-NOT: call void @llvm.prefetch
// TURNED: store <8 x float>
// TURNED-NOT: call void @llvm.prefetch
// TURNED: call <16 x float> @llvm.fma
exec.kernel @turned(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  exec.yield %0 : tensor<1024x1024xf32>
}

//--- large.mlir
// Of b 32 columns at a time, of a rows of k.
// LARGE: define i32 @large
// LARGE: store <32 x float>
// LARGE: store <{{16|32|64}} x float> %{{.*}}, ptr %{{.*}}, align 4
// LARGE: call <16 x float> @llvm.fma
exec.kernel @large(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  exec.yield %0 : tensor<4096x4096xf32>
}

//--- few.mlir
// FEW: define i32 @few
// FEW: store <32 x float>
// FEW: call <16 x float> @llvm.fma
exec.kernel @few(%a: tensor<16x2048xf32>, %b: tensor<2048x2048xf32>) -> tensor<16x2048xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x2048xf32>, tensor<2048x2048xf32>) -> tensor<16x2048xf32>
  exec.yield %0 : tensor<16x2048xf32>
}
