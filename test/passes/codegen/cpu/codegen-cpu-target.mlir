// The module's exec.target_cpu decides what code may use; a name that
// LLVM does not know is refused. Features beside it, as an earlier run left them, stand for themselves.
// RUN: split-file %s %t
// RUN: tessera-opt %t/level.mlir --tessera-codegen-cpu --mlir-elide-resource-strings-if-larger=8 | FileCheck %s
// RUN: tessera-opt %t/features.mlir --tessera-codegen-cpu --mlir-elide-resource-strings-if-larger=8 | FileCheck %s --check-prefix=FEATURES
// RUN: not tessera-opt %t/unknown.mlir --tessera-codegen-cpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// CHECK: exec.target_cpu = "x86-64", exec.target_features = []}
// FEATURES: exec.target_cpu = "rocketlake", exec.target_features = ["sse3", "avx"]}
// UNKNOWN: error: --target-cpu=i8086: LLVM knows no x86 processor of that name

//--- level.mlir
module attributes {exec.target_cpu = "x86-64"} {
  exec.kernel @double(%x: tensor<8xf16>) -> tensor<8xf16> {
    %s = stablehlo.add %x, %x : tensor<8xf16>
    exec.yield %s : tensor<8xf16>
  }
}

//--- features.mlir
module attributes {exec.target_cpu = "rocketlake", exec.target_features = ["sse3", "avx"]} {
}

//--- unknown.mlir
module attributes {exec.target_cpu = "i8086"} {
}
