// Kernels are compiled in two parts: the second's text has a file of its own.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll --check-prefix=FIRST
// RUN: FileCheck %s --input-file=%t.ll.2 --check-prefix=SECOND

// FIRST-NOT: @twice
// FIRST: define i32 @once
// FIRST-NOT: @twice
exec.kernel @once(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.add %x, %x : tensor<64xf32>
  exec.yield %0 : tensor<64xf32>
}

// SECOND-NOT: @once
// SECOND: define i32 @twice
// SECOND-NOT: @once
exec.kernel @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<64xf32>
  exec.yield %0 : tensor<64xf32>
}
