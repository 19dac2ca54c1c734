// Results that go past the caches are written beside the last pass over the next row, and those of a part's last row behind the loop: before the pass
// stores an exponential, it reads the one of the row before. Not so where another pass has stored them, nor where they stay in the caches.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/softmax.ll tessera-opt %t/softmax.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/softmax.out
// RUN: FileCheck %s --input-file=%t/softmax.ll --check-prefix=SOFTMAX
// RUN: FileCheck %s --input-file=%t/softmax.out --check-prefix=CELLS
// RUN: env TESSERA_DUMP_LLVM=%t/gradient.ll tessera-opt %t/gradient.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/gradient.out
// RUN: FileCheck %s --input-file=%t/gradient.ll --check-prefix=GRADIENT
// RUN: env TESSERA_DUMP_LLVM=%t/small.ll tessera-opt %t/small.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/small.out
// RUN: FileCheck %s --input-file=%t/small.ll --check-prefix=SMALL
// RUN: env TESSERA_DUMP_LLVM=%t/halves.ll tessera-opt %t/halves.mlir --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t/halves.out
// RUN: FileCheck %s --input-file=%t/halves.ll --check-prefix=HALVES

//--- softmax.mlir
// Cells of 32 rows, 256 of them.
// CELLS: grid = 256 : i64
// SOFTMAX: define i32 @softmax
// SOFTMAX: %[[BEFORE:.*]] = icmp sgt i64
// SOFTMAX: call <16 x i32> @llvm.smax
// SOFTMAX: call void @llvm.prefetch
// SOFTMAX: br i1 %[[BEFORE]], label %[[WRITE:.*]], label %[[COMPUTE:.*]]
// SOFTMAX: [[WRITE]]:
// SOFTMAX: load float, ptr %carried
// SOFTMAX: %[[KEPT:.*]] = getelementptr inbounds float, ptr %{{.*}}, i64 %[[PLACE:.*]]
// SOFTMAX-NEXT: load <64 x float>, ptr %[[KEPT]]
// SOFTMAX: store <64 x float> %{{.*}}, !nontemporal
// SOFTMAX: [[COMPUTE]]:
// SOFTMAX: getelementptr inbounds float, ptr %{{.*}}, i64 %[[PLACE]]
// SOFTMAX: store <64 x float> {{[^!]*$}}
// SOFTMAX: store float %{{.*}}, ptr %carried
// SOFTMAX: icmp slt i64
// SOFTMAX: store <64 x float> %{{.*}}, !nontemporal
// SOFTMAX-NOT: !nontemporal
// SOFTMAX: ret i32 0
exec.kernel @softmax(%x: tensor<8192x2048xf32>) -> tensor<8192x2048xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<8192x2048xf32>, tensor<f32>) -> tensor<8192xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8192xf32>) -> tensor<8192x2048xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<8192x2048xf32>
  %3 = stablehlo.exponential %2 : tensor<8192x2048xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8192x2048xf32>, tensor<f32>) -> tensor<8192xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8192xf32>) -> tensor<8192x2048xf32>
  %6 = stablehlo.divide %3, %5 : tensor<8192x2048xf32>
  exec.yield %6 : tensor<8192x2048xf32>
}

//--- gradient.mlir
// GRADIENT: define i32 @gradient
// GRADIENT-NOT: !nontemporal
// GRADIENT: call void @llvm.prefetch
// GRADIENT: store <64 x float> %{{.*}}, !nontemporal
// GRADIENT-NOT: !nontemporal
// GRADIENT: ret i32 0
exec.kernel @gradient(%x: tensor<2048x2048xf32>, %by: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<2048x2048xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<2048xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<2048xf32>) -> tensor<2048x2048xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<2048x2048xf32>
  %4 = stablehlo.multiply %3, %by : tensor<2048x2048xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<2048xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2048xf32>) -> tensor<2048x2048xf32>
  %7 = stablehlo.multiply %3, %6 : tensor<2048x2048xf32>
  exec.yield %7 : tensor<2048x2048xf32>
}

//--- small.mlir
// SMALL: define i32 @small
// SMALL-NOT: !nontemporal
// SMALL-NOT: %carried
// SMALL: ret i32 0
exec.kernel @small(%x: tensor<1024x2048xf32>) -> tensor<1024x2048xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<1024x2048xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x2048xf32>, tensor<f32>) -> tensor<1024xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<1024xf32>) -> tensor<1024x2048xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<1024x2048xf32>
  exec.yield %3 : tensor<1024x2048xf32>
}

//--- halves.mlir
// Nor where steps of results are one register of 32 bytes, as of a kernel with two functions and 16 registers.
// HALVES: define i32 @log_softmax
// HALVES-NOT: carried
// HALVES: store <8 x float> {{.*}}, !nontemporal
exec.kernel @log_softmax(%x: tensor<8192x2048xf32>) -> tensor<8192x2048xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<8192x2048xf32>, tensor<f32>) -> tensor<8192xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8192xf32>) -> tensor<8192x2048xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<8192x2048xf32>
  %3 = stablehlo.exponential %2 : tensor<8192x2048xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8192x2048xf32>, tensor<f32>) -> tensor<8192xf32>
  %5 = stablehlo.log %4 : tensor<8192xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8192xf32>) -> tensor<8192x2048xf32>
  %7 = stablehlo.subtract %2, %6 : tensor<8192x2048xf32>
  exec.yield %7 : tensor<8192x2048xf32>
}
