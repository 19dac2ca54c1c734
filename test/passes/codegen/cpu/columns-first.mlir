// What depends on the column alone and is dear is computed before the rows, and read with each of them: a division stands
// once in front of the loop over rows. Also where rows are added to parts of sums. Not of a product, which is as quick as
// reading it, nor of a single row.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/scaled.ll tessera-opt %t/scaled.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/scaled.out
// RUN: FileCheck %s --input-file=%t/scaled.ll --check-prefix=SCALED
// RUN: env TESSERA_DUMP_LLVM=%t/cheap.ll tessera-opt %t/cheap.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/cheap.out
// RUN: FileCheck %s --input-file=%t/cheap.out --check-prefix=CHEAP
// RUN: env TESSERA_DUMP_LLVM=%t/single.ll tessera-opt %t/single.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/single.out
// RUN: FileCheck %s --input-file=%t/single.out --check-prefix=SINGLE

//--- scaled.mlir
// SCALED: fdiv <64 x float>
// SCALED: store <64 x float>
// SCALED: br i1
// SCALED-NOT: fdiv
// SCALED: load <64 x float>
// SCALED-NOT: fdiv
exec.kernel @scaled(%x: tensor<4096x256xf32>, %s: tensor<256xf32>, %n: tensor<256xf32>) -> tensor<4096x256xf32> {
  %0 = stablehlo.divide %s, %n : tensor<256xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<256xf32>) -> tensor<4096x256xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<4096x256xf32>
  exec.yield %2 : tensor<4096x256xf32>
}

//--- cheap.mlir
// CHEAP: scratch_bytes = 0
exec.kernel @cheap(%x: tensor<4096x256xf32>, %s: tensor<256xf32>, %n: tensor<256xf32>) -> tensor<4096x256xf32> {
  %0 = stablehlo.multiply %s, %n : tensor<256xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<256xf32>) -> tensor<4096x256xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<4096x256xf32>
  exec.yield %2 : tensor<4096x256xf32>
}

//--- single.mlir
// SINGLE: scratch_bytes = 0
exec.kernel @single(%x: tensor<1x256xf32>, %s: tensor<256xf32>, %n: tensor<256xf32>) -> tensor<1x256xf32> {
  %0 = stablehlo.divide %s, %n : tensor<256xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<256xf32>) -> tensor<1x256xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<1x256xf32>
  exec.yield %2 : tensor<1x256xf32>
}
