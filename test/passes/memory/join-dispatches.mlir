// Pointwise kernels of a GPU that differ in their shapes only are one launch, the largest first, and so are equal ones of any kind. What
// another kernel reads or writes between them keeps them apart; a wait does not, where they are short; a product, which may have scratch, does.
// RUN: tessera-opt %s --split-input-file --tessera-join-dispatches --tessera-verify-memory | FileCheck %s
// RUN: sed 's/<cuda, <"sm_90a"/<cpu, <"x86-64-v3"/' %s | tessera-opt --split-input-file --tessera-join-dispatches | FileCheck %s --check-prefix=CPU

// CPU-NOT: strands

// CHECK: exec.kernel @add_1_for_2(%{{.*}}: tensor<8x16xf32>, %{{.*}}: tensor<8x16xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<64xf32>, %{{.*}}: tensor<64xf32>, %{{.*}}: tensor<f32>) -> (tensor<8x16xf32>, tensor<64xf32>) attributes {inplace = array<i64: 1, 4>, strands = 2 : i64}
// CHECK-NOT: exec.kernel @add_0
// CHECK: exec.kernel @add_2
// CHECK-LABEL: exec.program @steps
// CHECK: exec.dispatch @add_2
// CHECK-NEXT: exec.dispatch @add_1_for_2(%[[H:.*]], %[[N:.*]], %[[S:.*]], %[[G:.*]], %[[M:.*]], %[[S]]) -> (%[[N]], %[[M]]) time 8
// CHECK-NOT: exec.dispatch
#f = #exec.param<name = "", local = tensor<f32>, global = tensor<f32>>
#g = #exec.param<name = "", local = tensor<64xf32>, global = tensor<64xf32>>
#m = #exec.param<name = "", local = tensor<64xf32>, global = tensor<64xf32>, donated = true>
#h = #exec.param<name = "", local = tensor<8x16xf32>, global = tensor<8x16xf32>>
#n = #exec.param<name = "", local = tensor<8x16xf32>, global = tensor<8x16xf32>, donated = true>
#odd = #exec.param<name = "", local = tensor<5xf32>, global = tensor<5xf32>>
module attributes {tessera.target = #tessera.target<cuda, <"sm_90a", vector_bits = 128>>} {
  exec.kernel @add_0(%x: tensor<64xf32>, %y: tensor<64xf32>, %s: tensor<f32>) -> tensor<64xf32> attributes {inplace = array<i64: 1>} {
    %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<64xf32>
    %2 = stablehlo.add %1, %y : tensor<64xf32>
    exec.yield %2 : tensor<64xf32>
  }
  exec.kernel @add_1(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>, %s: tensor<f32>) -> tensor<8x16xf32> attributes {inplace = array<i64: 1>} {
    %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<8x16xf32>
    %2 = stablehlo.add %1, %y : tensor<8x16xf32>
    exec.yield %2 : tensor<8x16xf32>
  }
  exec.kernel @add_2(%x: tensor<5xf32>) -> tensor<5xf32> {
    %0 = stablehlo.add %x, %x : tensor<5xf32>
    exec.yield %0 : tensor<5xf32>
  }
  exec.program @steps arena 0 constants 0 inputs [#f, #g, #m, #h, #n, #odd] outputs [#exec.param<name = "", local = tensor<5xf32>, global = tensor<5xf32>>] {
    %s = exec.buffer input 0 : tensor<f32>
    %g = exec.buffer input 1 : tensor<64xf32>
    %m = exec.buffer input 2 : tensor<64xf32>
    %h = exec.buffer input 3 : tensor<8x16xf32>
    %n = exec.buffer input 4 : tensor<8x16xf32>
    %o = exec.buffer input 5 : tensor<5xf32>
    %r = exec.buffer output 0 : tensor<5xf32>
    exec.dispatch @add_0(%g, %m, %s) -> (%m) time 0
    exec.dispatch @add_2(%o) -> (%r) time 4
    exec.dispatch @add_1(%h, %n, %s) -> (%n) time 8
  }
}

// -----

// CHECK-LABEL: exec.program @apart
// CHECK: exec.dispatch @exp(%{{.*}}) -> (%[[T:.*]]) time 0
// CHECK-NEXT: exec.dispatch @sum(%[[T]]) -> (%[[U:.*]]) time 4
// CHECK-NEXT: exec.dispatch @exp(%[[U]])
// CHECK-NEXT: exec.dispatch @dot
// CHECK-NEXT: exec.dispatch @exp
module attributes {tessera.target = #tessera.target<cuda, <"sm_90a", vector_bits = 128>>} {
  exec.kernel @exp(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.exponential %x : tensor<4x4xf32>
    exec.yield %0 : tensor<4x4xf32>
  }
  exec.kernel @sum(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4x4xf32>
    exec.yield %0 : tensor<4x4xf32>
  }
  exec.kernel @dot(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    exec.yield %0 : tensor<4x4xf32>
  }
  exec.program @apart arena 256 constants 0 inputs [#exec.param<name = "", local = tensor<4x4xf32>, global = tensor<4x4xf32>>] outputs [#exec.param<name = "", local = tensor<4x4xf32>, global = tensor<4x4xf32>>] {
    %x = exec.buffer input 0 : tensor<4x4xf32>
    %t = exec.buffer arena at 0 : tensor<4x4xf32>
    %u = exec.buffer arena at 64 : tensor<4x4xf32>
    %v = exec.buffer arena at 128 : tensor<4x4xf32>
    %w = exec.buffer arena at 192 : tensor<4x4xf32>
    %y = exec.buffer output 0 : tensor<4x4xf32>
    exec.dispatch @exp(%x) -> (%t) time 0
    exec.dispatch @sum(%t) -> (%u) time 4
    exec.dispatch @exp(%u) -> (%v) time 8
    exec.dispatch @dot(%x) -> (%w) time 12
    exec.dispatch @exp(%w) -> (%y) time 16
  }
}

// -----

// The first kernel comes behind the wait.
// CHECK-LABEL: exec.program @waits
// CHECK: exec.start 0
// CHECK-NEXT: exec.wait 0
// CHECK-NEXT: exec.dispatch @exp_for_2(
module attributes {tessera.target = #tessera.target<cuda, <"sm_90a", vector_bits = 128>>} {
  exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.exponential %x : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  exec.program @waits arena 64 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>, #exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
    %x = exec.buffer input 0 : tensor<8xf32>
    %t = exec.buffer arena at 0 : tensor<8xf32>
    %y = exec.buffer output 0 : tensor<8xf32>
    %z = exec.buffer output 1 : tensor<8xf32>
    exec.start 0 all_reduce sum over "x" (%x) -> (%t)
    exec.dispatch @exp(%x) -> (%y) time 4
    exec.wait 0
    exec.dispatch @exp(%t) -> (%z) time 8
  }
}
