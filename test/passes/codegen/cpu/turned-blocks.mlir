// A transpose by blocks. Of elements narrower than four bytes whole lines are read, whose squares lie side by side in a register and leave it
// 16 bytes at a time; where a loop leaves smaller squares, or a cache holds the array, those of rows below fill the register. What the next block reads is asked for, into the
// second cache, at each row of this one that is written; so is what is read as it lies beside it, a few lines of each row. Where the loops around make enough cells, each has whole planes.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/words.ll tessera-opt %t/words.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/words.out
// RUN: FileCheck %s --input-file=%t/words.ll --check-prefix=WORDS
// RUN: env TESSERA_DUMP_LLVM=%t/few.ll tessera-opt %t/few.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/few.out
// RUN: FileCheck %s --input-file=%t/few.ll --check-prefix=FEW
// RUN: env TESSERA_DUMP_LLVM=%t/held.ll tessera-opt %t/held.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/held.out
// RUN: FileCheck %s --input-file=%t/held.ll --check-prefix=HELD
// RUN: env TESSERA_DUMP_LLVM=%t/unaligned.ll tessera-opt %t/unaligned.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/unaligned.out
// RUN: FileCheck %s --input-file=%t/unaligned.ll --check-prefix=UNALIGNED
// RUN: FileCheck %s --input-file=%t/unaligned.out --check-prefix=PLANES
// RUN: env TESSERA_DUMP_LLVM=%t/beside.ll tessera-opt %t/beside.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/beside.out
// RUN: FileCheck %s --input-file=%t/beside.ll --check-prefix=BESIDE

//--- words.mlir
// WORDS: define i32 @words
// A frame of pages is touched at the entry: its prologue stays there.
// WORDS: store volatile i8 0, ptr %block
// WORDS-COUNT-8: load <32 x i16>
// WORDS-COUNT-32: store <8 x i16>
// A block has 64 elements of 128 rows: two rows of two lines at each of the 64.
// WORDS-COUNT-4: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 2, i32 1)
// WORDS-NOT: call void @llvm.prefetch
exec.kernel @words(%x: tensor<4096x1024xbf16>) -> tensor<1024x4096xbf16> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4096x1024xbf16>) -> tensor<1024x4096xbf16>
  exec.yield %0 : tensor<1024x4096xbf16>
}

//--- few.mlir
// Squares of 8 x 8 bytes of eight rows of squares; a small array stays in a cache, so nothing is asked for.
// FEW: define i32 @few
// FEW-COUNT-64: load <8 x i8>
// FEW-COUNT-8: store <64 x i8>
// FEW-NOT: call void @llvm.prefetch
exec.kernel @few(%x: tensor<1000x9xi8>) -> tensor<9x1000xi8> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<1000x9xi8>) -> tensor<9x1000xi8>
  exec.yield %0 : tensor<9x1000xi8>
}

//--- held.mlir
// HELD: define i32 @held
// HELD-COUNT-32: load <8 x i16>
// HELD-COUNT-8: store <32 x i16>
// HELD-NOT: call void @llvm.prefetch
exec.kernel @held(%x: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<512x512xbf16>) -> tensor<512x512xbf16>
  exec.yield %0 : tensor<512x512xbf16>
}

//--- unaligned.mlir
// Rows of 257 begin anywhere in a line: five lines hold 64 elements.
// UNALIGNED: define i32 @unaligned
// UNALIGNED-COUNT-5: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 2, i32 1)
// UNALIGNED-NOT: call void @llvm.prefetch
// PLANES: grid = 64 : i64
exec.kernel @unaligned(%x: tensor<128x512x257xf32>) -> tensor<257x512x128xf32> {
  %0 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<128x512x257xf32>) -> tensor<257x512x128xf32>
  exec.yield %0 : tensor<257x512x128xf32>
}

//--- beside.mlir
// Of a block of 64 x 64 four lines of a row of x, at the same row of the next block, and four of a row of y; none of one row for all (c).
// BESIDE: define i32 @beside
// BESIDE-COUNT-8: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 2, i32 1)
// BESIDE-NOT: call void @llvm.prefetch
exec.kernel @beside(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>, %c: tensor<1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.transpose %y, dims = [1, 0] : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = stablehlo.add %x, %0 : tensor<1024x1024xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %3 = stablehlo.add %1, %2 : tensor<1024x1024xf32>
  exec.yield %3 : tensor<1024x1024xf32>
}
