// The device program prints as it parses: every instruction once.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
  exec.yield %x : tensor<8xf32>
}

// CHECK: exec.program @main arena 192 constants 4 inputs [#exec.param<name = "x", local = tensor<8xf32>, global = tensor<8xf32>, donated = true>] outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>, alias = 0>] {
exec.program @main arena 192 constants 4
    inputs [#exec.param<name = "x", local = tensor<8xf32>, global = tensor<8xf32>, donated = true>]
    outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>, alias = 0>] {
  // CHECK-NEXT: exec.constant at 0 dense<3> : tensor<i32>
  exec.constant at 0 dense<3> : tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = exec.buffer input 0 : tensor<8xf32>
  %x = exec.buffer input 0 : tensor<8xf32>
  // CHECK-NEXT: %[[Y:.*]] = exec.buffer output 0 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<8xf32>
  // CHECK-NEXT: %[[T:.*]] = exec.buffer arena at 64 : tensor<8xf32>
  %t = exec.buffer arena at 64 : tensor<8xf32>
  // CHECK-NEXT: %[[P:.*]] = exec.buffer arena at 0 : tensor<i1>
  %p = exec.buffer arena at 0 : tensor<i1>
  // CHECK-NEXT: %[[I:.*]] = exec.buffer constant at 0 : tensor<i32>
  %i = exec.buffer constant at 0 : tensor<i32>
  // CHECK-NEXT: exec.dispatch @exp(%[[X]]) -> (%[[T]])
  exec.dispatch @exp(%x) -> (%t)
  // CHECK-NEXT: exec.start 3 all_reduce sum over "data"(%[[T]]) -> (%[[Y]])
  exec.start 3 all_reduce sum over "data" (%t) -> (%y)
  // CHECK-NEXT: exec.wait 3
  exec.wait 3
  // CHECK-NEXT: exec.loop 12 {
  // CHECK-NEXT: exec.copy %[[X]] to %[[Y]]
  exec.loop 12 {
    exec.copy %x to %y
  }
  // CHECK: exec.loop while %[[P]] {
  // CHECK-NEXT: exec.dispatch
  // CHECK-NEXT: } do {
  exec.loop while %p {
    exec.dispatch @exp(%x) -> (%t)
  } do {
    exec.dispatch @exp(%t) -> (%t)
  }
  // CHECK: exec.branch %[[I]] {
  // CHECK: }, {
  exec.branch %i {
    exec.coordinate "data" to %i
  }, {
  }
}
