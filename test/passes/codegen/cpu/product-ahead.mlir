// What a product's results are made of besides its sums, and the results' own lines, are asked for while a tile multiplies,
// a few of them every some steps: here 16 lines of each array in 128 steps, four at a time. A result that overwrites an operand is asked for
// once. Not where the product is over before they come, nothing of a row that all rows of the product read, and no result
// that a cache holds. All at once, they would wait for each other.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/update.ll tessera-opt %t/update.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/update.out
// RUN: FileCheck %s --input-file=%t/update.ll --check-prefix=UPDATE
// RUN: env TESSERA_DUMP_LLVM=%t/short.ll tessera-opt %t/short.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/short.out
// RUN: FileCheck %s --input-file=%t/short.ll --check-prefix=SHORT
// RUN: env TESSERA_DUMP_LLVM=%t/bias.ll tessera-opt %t/bias.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/bias.out
// RUN: FileCheck %s --input-file=%t/bias.ll --check-prefix=BIAS
// RUN: env TESSERA_DUMP_LLVM=%t/inplace.ll tessera-opt %t/inplace.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/inplace.out
// RUN: FileCheck %s --input-file=%t/inplace.ll --check-prefix=INPLACE
// RUN: env TESSERA_DUMP_LLVM=%t/small.ll tessera-opt %t/small.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/small.out
// RUN: FileCheck %s --input-file=%t/small.ll --check-prefix=SMALL

//--- update.mlir
// UPDATE: select i1 {{.*}}, ptr
// UPDATE-NEXT: call void @llvm.prefetch
// UPDATE: select i1 {{.*}}, ptr
// UPDATE-NEXT: call void @llvm.prefetch
// UPDATE: select i1 {{.*}}, ptr
// UPDATE-NEXT: call void @llvm.prefetch
// UPDATE: select i1 {{.*}}, ptr
// UPDATE-NEXT: call void @llvm.prefetch
// UPDATE-NOT: call void @llvm.prefetch
// UPDATE: call <16 x float> @llvm.fma
// UPDATE-NOT: call void @llvm.prefetch
exec.kernel @update(%a: tensor<512x128xf32>, %b: tensor<128x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x512xf32>) -> tensor<512x512xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<512x512xf32>
  exec.yield %1 : tensor<512x512xf32>
}

//--- short.mlir
// SHORT-NOT: call void @llvm.prefetch
// SHORT: call <16 x float> @llvm.fma
exec.kernel @short(%a: tensor<4096x32xf32>, %b: tensor<32x128xf32>, %w: tensor<4096x128xf32>) -> tensor<4096x128xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4096x32xf32>, tensor<32x128xf32>) -> tensor<4096x128xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<4096x128xf32>
  exec.yield %1 : tensor<4096x128xf32>
}

//--- inplace.mlir
// INPLACE-COUNT-4: call void @llvm.prefetch
// INPLACE-NOT: call void @llvm.prefetch
// INPLACE: call <16 x float> @llvm.fma
// INPLACE-NOT: call void @llvm.prefetch
exec.kernel @inplace(%a: tensor<512x128xf32>, %b: tensor<128x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {inplace = array<i64: 2>} {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x512xf32>) -> tensor<512x512xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<512x512xf32>
  exec.yield %1 : tensor<512x512xf32>
}

//--- small.mlir
// SMALL-NOT: call void @llvm.prefetch
// SMALL: call <16 x float> @llvm.fma
// SMALL-NOT: call void @llvm.prefetch
exec.kernel @small(%a: tensor<128x128xf32>, %b: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x256xf32>) -> tensor<128x256xf32>
  exec.yield %0 : tensor<128x256xf32>
}

//--- bias.mlir
// BIAS-COUNT-4: call void @llvm.prefetch
// BIAS-NOT: call void @llvm.prefetch
// BIAS: call <16 x float> @llvm.fma
exec.kernel @bias(%a: tensor<512x128xf32>, %b: tensor<128x512xf32>, %w: tensor<512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x512xf32>) -> tensor<512x512xf32>
  %bias = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<512xf32>) -> tensor<512x512xf32>
  %1 = stablehlo.add %0, %bias : tensor<512x512xf32>
  exec.yield %1 : tensor<512x512xf32>
}
