// What has no CPU code is refused at its operation, not left out.
// RUN: not tessera-opt %s --tessera-codegen-cpu 2>&1 | FileCheck %s

exec.kernel @bits(%x: tensor<2xui64>) -> tensor<8xui32> {
  // CHECK: codegen-cpu-refuses.mlir:[[@LINE+1]]:{{[0-9]+}}: error: no kernel code for 'stablehlo.rng_bit_generator' inside a fused kernel
  %s, %r = stablehlo.rng_bit_generator %x, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  exec.yield %r : tensor<8xui32>
}
