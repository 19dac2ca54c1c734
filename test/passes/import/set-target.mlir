// What a program is compiled for is said on the module, best processor first; what it says itself stays.
// RUN: split-file %s %t
// RUN: tessera-opt %t/none.mlir --tessera-set-target="processors=x86-64,x86-64-v2" | FileCheck %s
// RUN: tessera-opt %t/none.mlir --tessera-import="target=shadow processors=x86-64" | FileCheck %s --check-prefix=SHADOW
// RUN: tessera-opt %t/none.mlir --tessera-import | FileCheck %s --check-prefix=HERE
// RUN: tessera-opt %t/own.mlir --tessera-set-target="target=cpu processors=x86-64-v3" | FileCheck %s --check-prefix=OWN
// RUN: tessera-opt %t/none.mlir --tessera-set-target="target=cuda:sm_80,sm_90a" | FileCheck %s --check-prefix=CUDA
// RUN: not tessera-opt %t/none.mlir --tessera-set-target="target=cuda:sm_70" 2>&1 | FileCheck %s --check-prefix=ARCHITECTURE
// RUN: not tessera-opt %t/none.mlir --tessera-set-target="target=tpu" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tessera-opt %t/none.mlir --tessera-set-target="processors=x86-64-v3,z80" 2>&1 | FileCheck %s --check-prefix=PROCESSOR

// CHECK: module attributes {tessera.target = #tessera.target<cpu, <"x86-64-v2", vector_bits = 128, features = ["sse3", "ssse3", "cx16", "sse4.1", "sse4.2", "popcnt", "sahf"]>, <"x86-64", vector_bits = 128>>}
// SHADOW: module attributes {tessera.target = #tessera.target<shadow, <"x86-64", vector_bits = 128>>}
// HERE: module attributes {tessera.target = #tessera.target<cpu, <"{{.+}}", vector_bits = {{128|256|512}}
// OWN: module attributes {tessera.target = #tessera.target<shadow, <"x86-64", vector_bits = 128>>}
// CUDA: module attributes {tessera.target = #tessera.target<cuda, <"sm_90a", vector_bits = 128, features = ["ptx80"]>, <"sm_80", vector_bits = 128, features = ["ptx80"]>>}
// ARCHITECTURE: error: --target=cuda:sm_70: no architecture that kernels are generated for; known are sm_80
// UNKNOWN: error: --target=tpu: no such target; use --target=cpu or --target=shadow or --target=cuda
// PROCESSOR: error: --target-cpu=z80: LLVM knows no x86 processor of that name; use native

//--- none.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

//--- own.mlir
module attributes {tessera.target = #tessera.target<shadow, <"x86-64", vector_bits = 128>>} {
}
