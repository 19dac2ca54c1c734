// What --stop-after=memory leaves is compiled from there on, to a program of the same numbers, for the
// target that its memory was laid out for and for a processor that the command names. Kernels keep
// what their code goes by: the parts of a sum, the trips of a loop that is one kernel.
// RUN: tessera compile %s -o %t.mlir --stop-after=memory
// RUN: FileCheck %s --check-prefix=MARKS --input-file=%t.mlir
// RUN: tessera compile %t.mlir -o %t.tsr --target-cpu=x86-64-v3
// RUN: tessera info %t.tsr | FileCheck %s --check-prefix=INFO
// RUN: tessera compile %s -o %t.once.tsr --target-cpu=x86-64-v3
// RUN: %python -c "import numpy as np; np.savez('%t.in.npz', in0=np.arange(1200 * 512, dtype=np.float32).reshape(1200, 512) / 7)"
// RUN: tessera run %t.tsr --inputs=%t.in.npz --outputs=%t.npz
// RUN: tessera run %t.once.tsr --inputs=%t.in.npz --outputs=%t.once.npz
// RUN: cmp %t.npz %t.once.npz
// RUN: not tessera compile %t.mlir -o %t.gpu.tsr --target=cuda 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/padding = dense<..0, 40./padding = dense<[[40, 0]/' %t.mlir > %t.wrong.mlir
// RUN: not tessera compile %t.wrong.mlir -o %t.gpu.tsr 2>&1 | FileCheck %s --check-prefix=WRONG
// No other mark stands beside these.
// RUN: sed 's/tessera.parts = /tessera.partial = #tessera.partial<max>, tessera.parts = /' %t.mlir > %t.more.mlir
// RUN: not tessera compile %t.more.mlir -o %t.gpu.tsr 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: {{.*}}attribute 'tessera.partial' is one that phases of Tessera set
// MARKS-DAG: tessera.parts
// MARKS-DAG: tessera.trip_count
// INFO: for 2 devices
// INFO: x86-64-v3
// OTHER: error: {{.*}}device programs for 'cpu'; compile them with --target=cpu
// WRONG: error: {{.*}}attribute 'tessera.parts' is one that phases of Tessera set
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<1200x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<512xf32>, tensor<7xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1200x512xf32>, tensor<f32>) -> tensor<512xf32>
  %first = stablehlo.slice %sum [0:7] : (tensor<512xf32>) -> tensor<7xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %trips = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%k = %i, %v = %first) : tensor<i32>, tensor<7xf32>
  cond {
    %c = stablehlo.compare LT, %k, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %k, %one : tensor<i32>
    %turned = stablehlo.reverse %v, dims = [0] : tensor<7xf32>
    %added = stablehlo.add %turned, %v : tensor<7xf32>
    %t = stablehlo.tanh %added : tensor<7xf32>
    stablehlo.return %next, %t : tensor<i32>, tensor<7xf32>
  }
  return %sum, %r#1 : tensor<512xf32>, tensor<7xf32>
}
