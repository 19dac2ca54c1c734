// The pipeline is that of the module's target: shadow has the same code as the cpu, byte for byte. A target that this build has
// no code for is refused where it is read, not when it runs.
// RUN: split-file %s %t
// RUN: tessera-opt %t/kernel.mlir --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t/cpu.mlir
// RUN: tessera-opt %t/kernel.mlir --tessera-set-target="target=shadow processors=x86-64-v3" --tessera-generate-code -o %t/shadow.mlir
// RUN: FileCheck %s --input-file=%t/shadow.mlir
// RUN: sed s/shadow/cpu/ %t/shadow.mlir | diff - %t/cpu.mlir
// RUN: not tessera-opt %t/cuda.mlir --tessera-generate-code 2>&1 | FileCheck %s --check-prefix=CUDA
// CHECK: tessera.target = #tessera.target<shadow, <"x86-64-v3", vector_bits = 256
// CHECK: exec.kernel @double{{.*}} attributes {flops = {{.*}}, grid = 1 : i64
// CHECK: exec.image "shadow" for "x86-64-v3"
// CUDA: cuda.mlir:1:{{[0-9]+}}: error: --target=cuda: this build generates code for CPUs only; use --target=cpu

//--- kernel.mlir
exec.kernel @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = stablehlo.add %x, %x : tensor<8xf32>
  exec.yield %s : tensor<8xf32>
}

//--- cuda.mlir
module attributes {tessera.target = #tessera.target<cuda, <"sm_90a", vector_bits = 128>>} {}
