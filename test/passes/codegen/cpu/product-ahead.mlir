// What a product's results are made of besides its sums is asked for before a tile multiplies: here two lines of each of
// eight rows. Not where the product is over before they come, and nothing of a row that all rows of the product read.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/update.ll tessera-opt %t/update.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/update.out
// RUN: FileCheck %s --input-file=%t/update.ll --check-prefix=UPDATE
// RUN: env TESSERA_DUMP_LLVM=%t/short.ll tessera-opt %t/short.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/short.out
// RUN: FileCheck %s --input-file=%t/short.ll --check-prefix=SHORT
// RUN: env TESSERA_DUMP_LLVM=%t/bias.ll tessera-opt %t/bias.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/bias.out
// RUN: FileCheck %s --input-file=%t/bias.ll --check-prefix=BIAS

//--- update.mlir
// UPDATE-COUNT-16: call void @llvm.prefetch
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

//--- bias.mlir
// BIAS-NOT: call void @llvm.prefetch
// BIAS: call <16 x float> @llvm.fma
exec.kernel @bias(%a: tensor<512x128xf32>, %b: tensor<128x512xf32>, %w: tensor<512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128x512xf32>) -> tensor<512x512xf32>
  %bias = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<512xf32>) -> tensor<512x512xf32>
  %1 = stablehlo.add %0, %bias : tensor<512x512xf32>
  exec.yield %1 : tensor<512x512xf32>
}
