// The processor of the module's target decides what code may use: its instruction sets, as they stand there, and vectors of its
// width. Nonsense is refused.
// RUN: split-file %s %t
// RUN: tessera-opt %t/old.mlir --tessera-codegen-cpu -o %t/old.out
// RUN: tessera-opt %t/new.mlir --tessera-codegen-cpu -o %t/new.out
// RUN: not diff %t/old.out %t/new.out
// RUN: FileCheck %s --input-file=%t/old.out
// RUN: not tessera-opt %t/wide.mlir --tessera-codegen-cpu 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not tessera-opt %t/unknown.mlir --tessera-codegen-cpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// CHECK: tessera.target = #tessera.target<cpu, <"x86-64", vector_bits = 128>>
// CHECK: exec.image "cpu" for "x86-64" []
// WIDE: wide.mlir:1:{{[0-9]+}}: error: processor 'rocketlake' with vectors of 512 bits: with its instruction sets they have 128, 256
// UNKNOWN: unknown.mlir:1:{{[0-9]+}}: error: processor 'm1': the instruction set 'neon' is none that kernels know

//--- old.mlir
module attributes {tessera.target = #tessera.target<cpu, <"x86-64", vector_bits = 128>>} {
  exec.kernel @double(%x: tensor<8xf16>) -> tensor<8xf16> {
    %s = stablehlo.add %x, %x : tensor<8xf16>
    exec.yield %s : tensor<8xf16>
  }
}

//--- new.mlir
module attributes {tessera.target = #tessera.target<cpu, <"x86-64", vector_bits = 256, features = ["sse3", "avx", "f16c"]>>} {
  exec.kernel @double(%x: tensor<8xf16>) -> tensor<8xf16> {
    %s = stablehlo.add %x, %x : tensor<8xf16>
    exec.yield %s : tensor<8xf16>
  }
}

//--- wide.mlir
module attributes {tessera.target = #tessera.target<cpu, <"rocketlake", vector_bits = 512, features = ["sse3", "avx"]>>} {
}

//--- unknown.mlir
module attributes {tessera.target = #tessera.target<cpu, <"m1", vector_bits = 128, features = ["neon"]>>} {
}
