// Which pass over a row asks for the next one: the last, where results follow or the row is more than 2 KiB, else the first; of what one pass alone reads,
// that pass if it reads a row again, too; otherwise the last pass, unless it is that one, which waits for memory anyhow. Which
// reduction is emitted first, here that of a result, does not matter.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/loss.ll tessera-opt %t/loss.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/loss.out
// RUN: FileCheck %s --input-file=%t/loss.ll --check-prefix=LOSS
// RUN: env TESSERA_DUMP_LLVM=%t/longer.ll tessera-opt %t/longer.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/longer.out
// RUN: FileCheck %s --input-file=%t/longer.ll --check-prefix=LONGER
// RUN: env TESSERA_DUMP_LLVM=%t/softmax.ll tessera-opt %t/softmax.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/softmax.out
// RUN: FileCheck %s --input-file=%t/softmax.ll --check-prefix=SOFTMAX
// RUN: env TESSERA_DUMP_LLVM=%t/scaled.ll tessera-opt %t/scaled.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/scaled.out
// RUN: FileCheck %s --input-file=%t/scaled.ll --check-prefix=SCALED
// RUN: env TESSERA_DUMP_LLVM=%t/gradient.ll tessera-opt %t/gradient.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/gradient.out
// RUN: FileCheck %s --input-file=%t/gradient.ll --check-prefix=GRADIENT
// RUN: env TESSERA_DUMP_LLVM=%t/another.ll tessera-opt %t/another.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/another.out
// RUN: FileCheck %s --input-file=%t/another.ll --check-prefix=ANOTHER
// RUN: env TESSERA_DUMP_LLVM=%t/strips.ll tessera-opt %t/strips.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/strips.out
// RUN: FileCheck %s --input-file=%t/strips.ll --check-prefix=STRIPS
// RUN: env TESSERA_DUMP_LLVM=%t/whole.ll tessera-opt %t/whole.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/whole.out
// RUN: FileCheck %s --input-file=%t/whole.ll --check-prefix=WHOLE
// RUN: env TESSERA_DUMP_LLVM=%t/along.ll tessera-opt %t/along.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/along.out
// RUN: FileCheck %s --input-file=%t/along.ll --check-prefix=ALONG
// RUN: env TESSERA_DUMP_LLVM=%t/gathered.ll tessera-opt %t/gathered.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/gathered.out
// RUN: FileCheck %s --input-file=%t/gathered.ll --check-prefix=GATHERED
// RUN: env TESSERA_DUMP_LLVM=%t/found.ll tessera-opt %t/found.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/found.out
// RUN: FileCheck %s --input-file=%t/found.ll --check-prefix=FOUND

//--- loss.mlir
// LOSS: call void @llvm.prefetch
// LOSS: call <16 x i32> @llvm.smax
// LOSS-NOT: call void @llvm.prefetch
// LOSS: call <16 x float> @llvm.x86.avx512.mask.scalef.ps
// LOSS-NOT: call void @llvm.prefetch
exec.kernel @loss(%x: tensor<512x512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x512xf32>
  %3 = stablehlo.exponential %2 : tensor<512x512xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  exec.yield %0, %4 : tensor<512xf32>, tensor<512xf32>
}

//--- longer.mlir
// LONGER-NOT: call void @llvm.prefetch
// LONGER: call <16 x i32> @llvm.smax
// LONGER: call void @llvm.prefetch
// LONGER: call <16 x float> @llvm.x86.avx512.mask.scalef.ps
exec.kernel @longer(%x: tensor<512x1024xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x1024xf32>
  %3 = stablehlo.exponential %2 : tensor<512x1024xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  exec.yield %0, %4 : tensor<512xf32>, tensor<512xf32>
}

//--- softmax.mlir
// SOFTMAX-NOT: call void @llvm.prefetch
// SOFTMAX: call <16 x i32> @llvm.smax
// SOFTMAX: call void @llvm.prefetch
// SOFTMAX: call <16 x float> @llvm.x86.avx512.mask.scalef.ps
// SOFTMAX-NOT: call void @llvm.prefetch
// SOFTMAX: call <16 x float> @llvm.x86.avx512.mask.getexp.ps
exec.kernel @softmax(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x1024xf32>
  %3 = stablehlo.exponential %2 : tensor<512x1024xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %6 = stablehlo.divide %3, %5 : tensor<512x1024xf32>
  exec.yield %6 : tensor<512x1024xf32>
}

//--- scaled.mlir
// SCALED-NOT: call void @llvm.prefetch
// SCALED: define i32 @scaled
// SCALED-NOT: call void @llvm.prefetch
exec.kernel @scaled(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %x : tensor<512x1024xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<512x1024xf32>
  exec.yield %3 : tensor<512x1024xf32>
}

//--- gradient.mlir
// Four lines of each of the two.
// GRADIENT: fmul <64 x float>
// GRADIENT-COUNT-8: call void @llvm.prefetch
// GRADIENT: fmul <64 x float>
// GRADIENT-NOT: call void @llvm.prefetch
exec.kernel @gradient(%x: tensor<512x1024xf32>, %by: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %x : tensor<512x1024xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<512x1024xf32>
  %4 = stablehlo.multiply %3, %by : tensor<512x1024xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %7 = stablehlo.subtract %4, %6 : tensor<512x1024xf32>
  exec.yield %7 : tensor<512x1024xf32>
}

//--- another.mlir
// As in the gradient of log-softmax: the exponentials' pass asks for %x, and for %by, which only the sum before it has read.
// ANOTHER: define i32 @another
// ANOTHER-NOT: call void @llvm.prefetch
// ANOTHER: call <16 x i32> @llvm.smax
// ANOTHER-COUNT-8: call void @llvm.prefetch
// ANOTHER: call <16 x float> @llvm.x86.avx512.mask.scalef.ps
// ANOTHER-NOT: call void @llvm.prefetch
// ANOTHER: store <64 x float>
exec.kernel @another(%x: tensor<512x1024xf32>, %by: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0:2 = "stablehlo.reduce"(%x, %by, %least, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %10 = stablehlo.maximum %a, %c : tensor<f32>
    %11 = stablehlo.add %b, %d : tensor<f32>
    stablehlo.return %10, %11 : tensor<f32>, tensor<f32>
  }) : (tensor<512x1024xf32>, tensor<512x1024xf32>, tensor<f32>, tensor<f32>) -> (tensor<512xf32>, tensor<512xf32>)
  %1 = stablehlo.broadcast_in_dim %0#0, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<512x1024xf32>
  %3 = stablehlo.exponential %2 : tensor<512x1024xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %5 = stablehlo.divide %0#1, %4 : tensor<512xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %7 = stablehlo.multiply %3, %6 : tensor<512x1024xf32>
  %8 = stablehlo.subtract %by, %7 : tensor<512x1024xf32>
  exec.yield %8 : tensor<512x1024xf32>
}

//--- strips.mlir
// A running sum down columns, 256 of them at a time: of each row, 512 columns apart, four lines are asked for four rows before.
// STRIPS: define i32 @strips
// STRIPS: %[[AHEAD:.*]] = add nsw i64 %{{.*}}, 2048
// STRIPS-NEXT: getelementptr float, ptr %{{.*}}, i64 %[[AHEAD]]
// STRIPS-COUNT-4: call void @llvm.prefetch
exec.kernel @strips(%x: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[1023, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1024, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1024x512xf32>, tensor<f32>) -> tensor<1024x512xf32>
  exec.yield %0 : tensor<1024x512xf32>
}

//--- whole.mlir
// Where a row is one strip, all that is read is one stream.
// WHOLE: define i32 @whole
// WHOLE-NOT: call void @llvm.prefetch
exec.kernel @whole(%x: tensor<2048x256xf32>) -> tensor<2048x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[2047, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2048, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2048x256xf32>, tensor<f32>) -> tensor<2048x256xf32>
  exec.yield %0 : tensor<2048x256xf32>
}

//--- along.mlir
// A running maximum along rows, from the end: a line of each of the 16 blocks that are turned, 8 KiB before it.
// ALONG: define i32 @along
// ALONG: add nsw i64 %{{.*}}, -2048
// ALONG-COUNT-16: call void @llvm.prefetch
// ALONG-NOT: call void @llvm.prefetch
exec.kernel @along(%x: tensor<128x2048xf32>) -> tensor<128x2048xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %least) <{padding = dense<[[0, 0], [0, 2047]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2048>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<128x2048xf32>, tensor<f32>) -> tensor<128x2048xf32>
  exec.yield %0 : tensor<128x2048xf32>
}

//--- gathered.mlir
// Of rows that an array names, the one that is four rows later is asked for, or the cell's last.
// GATHERED: define i32 @gathered
// GATHERED: %[[LATER:.*]] = add nsw i64 %{{.*}}, 4
// GATHERED: call i64 @llvm.smin.i64(i64 %[[LATER]], i64
// GATHERED: call void @llvm.prefetch
// GATHERED: load <{{.*}} x float>
exec.kernel @gathered(%x: tensor<4096x1024xf32>, %i: tensor<512x1xi32>) -> tensor<512x1024xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1024>}> : (tensor<4096x1024xf32>, tensor<512x1xi32>) -> tensor<512x1024xf32>
  exec.yield %0 : tensor<512x1024xf32>
}

//--- found.mlir
// One that a reduction finds would be found twice.
// FOUND: define i32 @found
// FOUND-NOT: call void @llvm.prefetch
exec.kernel @found(%x: tensor<4096x1024xf32>, %i: tensor<512x16xi32>) -> tensor<512x1024xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%i init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x16xi32>, tensor<i32>) -> tensor<512xi32>
  %1 = stablehlo.reshape %0 : (tensor<512xi32>) -> tensor<512x1xi32>
  %2 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1024>}> : (tensor<4096x1024xf32>, tensor<512x1xi32>) -> tensor<512x1024xf32>
  exec.yield %2 : tensor<512x1024xf32>
}
