// The pipeline is that of the module's target: shadow has the same code as the cpu, byte for byte, and cuda's is PTX. A
// target that this build has no code for is refused where it is read, not when it runs.
// RUN: split-file %s %t
// RUN: tessera-opt %t/kernel.mlir --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t/cpu.mlir
// RUN: tessera-opt %t/kernel.mlir --tessera-set-target="target=shadow processors=x86-64-v3" --tessera-generate-code -o %t/shadow.mlir
// RUN: FileCheck %s --input-file=%t/shadow.mlir
// RUN: sed s/shadow/cpu/ %t/shadow.mlir | diff - %t/cpu.mlir
// RUN: tessera-opt %t/kernel.mlir --tessera-set-target="target=cuda" --tessera-generate-code | FileCheck %s --check-prefix=CUDA
// RUN: not tessera-opt %t/tpu.mlir --tessera-generate-code 2>&1 | FileCheck %s --check-prefix=TPU
// CHECK: tessera.target = #tessera.target<shadow, <"x86-64-v3", vector_bits = 256
// CHECK: exec.kernel @double{{.*}} attributes {flops = {{.*}}, grid = 1 : i64
// CHECK: exec.image "shadow" for "x86-64-v3"
// CUDA: exec.image "cuda" for "sm_80"
// TPU: tpu.mlir:1:{{[0-9]+}}: error: --target=tpu: no such target

//--- kernel.mlir
exec.kernel @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = stablehlo.add %x, %x : tensor<8xf32>
  exec.yield %s : tensor<8xf32>
}

//--- tpu.mlir
module attributes {tessera.target = #tessera.target<tpu, <"v5", vector_bits = 128>>} {}
