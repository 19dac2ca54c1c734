// A filter's gradient sums over images, lines and pixels, and copies 128 or 256 of them at a time. Tiles ask for what the next block copies,
// into the second cache, wherever it begins in a line: of channels last a part of its pixels, of channels first some channels' pixels. So they do for
// rows of bf16 that are copied as a whole, panel by panel, besides the lines that results are written to.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/last.ll tessera-opt %t/last.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/last.out
// RUN: FileCheck %s --input-file=%t/last.ll --check-prefix=LAST
// RUN: env TESSERA_DUMP_LLVM=%t/first.ll tessera-opt %t/first.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/first.out
// RUN: FileCheck %s --input-file=%t/first.ll --check-prefix=FIRST
// RUN: env TESSERA_DUMP_LLVM=%t/held.ll tessera-opt %t/held.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/held.out
// RUN: FileCheck %s --input-file=%t/held.ll --check-prefix=HELD
// RUN: env TESSERA_DUMP_LLVM=%t/panel.ll tessera-opt %t/panel.mlir --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t/panel.out
// RUN: FileCheck %s --input-file=%t/panel.ll --check-prefix=PANEL
// RUN: env TESSERA_DUMP_LLVM=%t/whole.ll tessera-opt %t/whole.mlir --tessera-set-target="target=cpu processors=znver4" --tessera-generate-code -o %t/whole.out
// RUN: FileCheck %s --input-file=%t/whole.ll --check-prefix=WHOLE

//--- last.mlir
// Four lines of a pixel of each operand.
// LAST: define i32 @last
// LAST-COUNT-8: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 2, i32 1)
// LAST-NOT: call void @llvm.prefetch
// LAST: call <16 x float> @llvm.fma
exec.kernel @last(%x: tensor<8x56x56x64xf32>, %by: tensor<8x56x56x64xf32>) -> tensor<3x3x64x64xf32> {
  %0 = stablehlo.convolution(%x, %by) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) -> tensor<3x3x64x64xf32>
  exec.yield %0 : tensor<3x3x64x64xf32>
}

//--- first.mlir
// A line of each of four channels of both.
// FIRST: define i32 @first
// FIRST-COUNT-8: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 2, i32 1)
// FIRST-NOT: call void @llvm.prefetch
// FIRST: call <16 x float> @llvm.fma
exec.kernel @first(%x: tensor<8x64x56x56xf32>, %by: tensor<8x64x56x56xf32>) -> tensor<3x3x64x64xf32> {
  %0 = stablehlo.convolution(%x, %by) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x64x56x56xf32>, tensor<8x64x56x56xf32>) -> tensor<3x3x64x64xf32>
  exec.yield %0 : tensor<3x3x64x64xf32>
}

//--- held.mlir
// Images that a core's own cache holds are not asked for.
// HELD: define i32 @held
// HELD-NOT: call void @llvm.prefetch
exec.kernel @held(%x: tensor<2x16x28x28xf32>, %by: tensor<2x16x28x28xf32>) -> tensor<3x3x16x16xf32> {
  %0 = stablehlo.convolution(%x, %by) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x28x28xf32>, tensor<2x16x28x28xf32>) -> tensor<3x3x16x16xf32>
  exec.yield %0 : tensor<3x3x16x16xf32>
}

//--- panel.mlir
// Of eight rows two lines of results, and one of a (the tile beside it asks for the other): 24 in 64 steps, three at a time.
// PANEL: define i32 @panel
// PANEL-COUNT-3: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
// PANEL-NOT: call void @llvm.prefetch
// PANEL: call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512
exec.kernel @panel(%a: tensor<16384x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<16384x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16384x64xbf16>, tensor<64x64xbf16>) -> tensor<16384x64xf32>
  exec.yield %0 : tensor<16384x64xf32>
}

//--- whole.mlir
// A core's own cache holds this one's, and its results.
// WHOLE: define i32 @whole
// WHOLE-NOT: call void @llvm.prefetch
exec.kernel @whole(%a: tensor<2048x64xbf16>, %b: tensor<64x16xbf16>) -> tensor<2048x16xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2048x64xbf16>, tensor<64x16xbf16>) -> tensor<2048x16xf32>
  exec.yield %0 : tensor<2048x16xf32>
}
