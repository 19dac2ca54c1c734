// What depends on the column alone and is dear is computed before the rows, and read with each of them: a division stands
// once in front of the loop over rows. Also where rows are added to parts of sums. Not of a product, which is as quick as
// reading it, nor of a single row. What one box of a nest keeps lies where the box before had its own.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/scaled.ll tessera-opt %t/scaled.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/scaled.out
// RUN: FileCheck %s --input-file=%t/scaled.ll --check-prefix=SCALED
// RUN: env TESSERA_DUMP_LLVM=%t/cheap.ll tessera-opt %t/cheap.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/cheap.out
// RUN: FileCheck %s --input-file=%t/cheap.out --check-prefix=CHEAP
// RUN: env TESSERA_DUMP_LLVM=%t/single.ll tessera-opt %t/single.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/single.out
// RUN: FileCheck %s --input-file=%t/single.out --check-prefix=SINGLE
// RUN: env TESSERA_DUMP_LLVM=%t/parts.ll tessera-opt %t/parts.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/parts.out
// RUN: FileCheck %s --input-file=%t/parts.ll --check-prefix=PARTS
// RUN: tessera-opt %t/boxes.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code | FileCheck %s --check-prefix=BOXES
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

//--- parts.mlir
// PARTS: fdiv <64 x float>
// PARTS: store <64 x float>
// PARTS-NOT: fdiv
// PARTS: fadd <64 x float>
// PARTS-NOT: fdiv
exec.kernel @parts(%x: tensor<4096x256xf32>, %s: tensor<256xf32>, %n: tensor<256xf32>) -> tensor<64x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.divide %s, %n : tensor<256xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<256xf32>) -> tensor<4096x256xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<4096x256xf32>
  %3 = "stablehlo.reduce_window"(%2, %zero) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 64, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {tessera.parts = 64 : i64} : (tensor<4096x256xf32>, tensor<f32>) -> tensor<64x256xf32>
  exec.yield %3 : tensor<64x256xf32>
}

//--- boxes.mlir
// Of two boxes one value each, of the second nest two: as many as these.
// BOXES: scratch_bytes = 2048
exec.kernel @boxes(%x: tensor<4096x256xf32>, %s: tensor<256xf32>, %n: tensor<256xf32>) -> (tensor<8192x256xf32>, tensor<2048x256xf32>) {
  %0 = stablehlo.divide %s, %n : tensor<256xf32>
  %1 = stablehlo.divide %n, %s : tensor<256xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<256xf32>) -> tensor<4096x256xf32>
  %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<256xf32>) -> tensor<4096x256xf32>
  %4 = stablehlo.multiply %x, %2 : tensor<4096x256xf32>
  %5 = stablehlo.subtract %x, %3 : tensor<4096x256xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 0 : (tensor<4096x256xf32>, tensor<4096x256xf32>) -> tensor<8192x256xf32>
  %7 = stablehlo.slice %x [0:2048, 0:256] : (tensor<4096x256xf32>) -> tensor<2048x256xf32>
  %8 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<256xf32>) -> tensor<2048x256xf32>
  %9 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<256xf32>) -> tensor<2048x256xf32>
  %10 = stablehlo.multiply %7, %8 : tensor<2048x256xf32>
  %11 = stablehlo.add %10, %9 : tensor<2048x256xf32>
  exec.yield %6, %11 : tensor<8192x256xf32>, tensor<2048x256xf32>
}
