// Kernels whose code is equal but for names are one, and the text says whose code the others are.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s --implicit-check-not=".visible .entry"
// RUN: FileCheck %s --check-prefix=LAUNCHES --input-file=%t.mlir

// Each has a launch of its own.
// LAUNCHES: {launches = [#exec.launch<threads = 256>, #exec.launch<threads = 256>, #exec.launch<threads = 256>]}

// CHECK-DAG: .visible .entry {{lines|side_by_side}}(
// CHECK-DAG: // .alias {{side_by_side, lines|lines, side_by_side}};
// CHECK-DAG: .visible .entry product(
exec.kernel @lines(%x: tensor<8x256xf32>, %y: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x256xf32>
  exec.yield %0 : tensor<8x256xf32>
}

exec.kernel @side_by_side(%x: tensor<2048xf32>, %y: tensor<2048xf32>) -> tensor<2048xf32> attributes {inplace = array<i64: 0>} {
  %0 = stablehlo.add %x, %y : tensor<2048xf32>
  exec.yield %0 : tensor<2048xf32>
}

exec.kernel @product(%x: tensor<2048xf32>, %y: tensor<2048xf32>) -> tensor<2048xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<2048xf32>
  exec.yield %0 : tensor<2048xf32>
}
