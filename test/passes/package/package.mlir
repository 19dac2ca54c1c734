// The whole phase changes nothing of a program whose kernels are compiled, and refuses one whose kernels are not.
// RUN: tessera-opt %s --tessera-codegen > %t.compiled
// RUN: tessera-opt %t.compiled --tessera-package | diff %t.compiled -
// RUN: not tessera-opt %s --tessera-package 2>&1 | FileCheck %s
// CHECK: [[@LINE+1]]:1: error: {{.*}}is not compiled; run --tessera-codegen before packaging
exec.kernel @tanh_0(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  exec.yield %0 : tensor<8xf32>
}
exec.program @main arena 0 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<8xf32>
  exec.dispatch @tanh_0(%x) -> (%y)
}
