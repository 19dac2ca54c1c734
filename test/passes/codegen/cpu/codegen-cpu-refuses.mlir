// What has no CPU code is refused at its operation, not left out.
// RUN: not tessera-opt %s --tessera-codegen-cpu 2>&1 | FileCheck %s

exec.kernel @fft(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // CHECK: codegen-cpu-refuses.mlir:[[@LINE+1]]:{{[0-9]+}}: error: no CPU code for 'stablehlo.fft' inside a fused kernel
  %r = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  exec.yield %r : tensor<8xcomplex<f32>>
}
