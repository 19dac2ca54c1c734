// What --stop-after=memory leaves is compiled from there on, to a program of the same numbers, for the
// target that its memory was laid out for and for a processor that the command names.
// RUN: tessera compile %s -o %t.mlir --stop-after=memory
// RUN: tessera compile %t.mlir -o %t.tsr --target-cpu=x86-64-v3
// RUN: tessera info %t.tsr | FileCheck %s --check-prefix=INFO
// RUN: tessera compile %s -o %t.once.tsr --target-cpu=x86-64-v3
// RUN: %python -c "import numpy as np; np.savez('%t.in.npz', in0=np.arange(15, dtype=np.float32).reshape(5, 3))"
// RUN: tessera run %t.tsr --inputs=%t.in.npz --outputs=%t.npz
// RUN: tessera run %t.once.tsr --inputs=%t.in.npz --outputs=%t.once.npz
// RUN: cmp %t.npz %t.once.npz
// RUN: not tessera compile %t.mlir -o %t.gpu.tsr --target=cuda 2>&1 | FileCheck %s --check-prefix=OTHER
// INFO: for 2 devices
// INFO: x86-64-v3
// OTHER: error: {{.*}}device programs for 'cpu'; compile them with --target=cpu
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<5x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<3xf32>, tensor<5x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x3xf32>, tensor<f32>) -> tensor<3xf32>
  %y = stablehlo.tanh %x : tensor<5x3xf32>
  return %sum, %y : tensor<3xf32>, tensor<5x3xf32>
}
