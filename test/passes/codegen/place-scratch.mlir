// The scratch of kernels lies where the arena is free while they run.
// RUN: tessera-opt %s --split-input-file --tessera-place-scratch --verify-each | FileCheck %s

// Beside the second array and where the first was; views move with their array.
// CHECK: exec.program @main arena 1024
// CHECK-DAG: %[[A:.*]] = exec.buffer arena at [[X:0|512]] : tensor<128xf32>{{$}}
// CHECK-DAG: %[[V:.*]] = exec.buffer arena at [[X]] : tensor<2x32xf32>{{$}}
// CHECK-DAG: %[[B:.*]] = exec.buffer arena at [[Y:0|512]] : tensor<128xf32>{{$}}
// CHECK: exec.dispatch @plain(%[[A]]) -> (%[[A]]){{$}}
// CHECK-NEXT: exec.dispatch @plain(%[[V]]) -> (%[[B]]){{$}}
// CHECK-NEXT: exec.dispatch @panels(%[[B]]) -> (%[[B]]) scratch at [[X]]{{$}}
exec.kernel @panels(%x: tensor<128xf32>) -> tensor<128xf32> attributes {grid = 1 : i64, scratch_bytes = 500 : i64} {
  exec.yield %x : tensor<128xf32>
}
exec.kernel @plain(%x: tensor<128xf32>) -> tensor<128xf32> attributes {grid = 1 : i64, scratch_bytes = 0 : i64} {
  exec.yield %x : tensor<128xf32>
}
exec.program @main arena 1024 constants 0 inputs [] outputs [] {
  %a = exec.buffer arena at 0 : tensor<128xf32> {array = array<i64: 0, 512, 1, 6>}
  %v = exec.buffer arena at 0 : tensor<2x32xf32> {array = array<i64: 0, 512, 1, 6>}
  %b = exec.buffer arena at 512 : tensor<128xf32> {array = array<i64: 512, 512, 5, 10>}
  exec.dispatch @plain(%a) -> (%a) time 0
  exec.dispatch @plain(%v) -> (%b) time 4
  exec.dispatch @panels(%b) -> (%b) time 8
}

// -----

// A program that does not say when its arrays are needed keeps them, and workers their scratch.
// CHECK: exec.program @unknown arena 512
// CHECK: exec.dispatch @panels(%{{.*}}) -> (%{{.*}}){{$}}
exec.kernel @panels(%x: tensor<128xf32>) -> tensor<128xf32> attributes {grid = 1 : i64, scratch_bytes = 500 : i64} {
  exec.yield %x : tensor<128xf32>
}
exec.program @unknown arena 512 constants 0 inputs [] outputs [] {
  %a = exec.buffer arena at 0 : tensor<128xf32>
  exec.dispatch @panels(%a) -> (%a) time 0
}

// -----

// A result that is not written yet has room for scratch, and for what lay in the arena; what is for
// the result itself stays.
// CHECK: exec.program @lent arena 512
// CHECK-DAG: %[[A:.*]] = exec.buffer output 1 : tensor<128xf32>{{$}}
// CHECK-DAG: %[[B:.*]] = exec.buffer arena at 0 : tensor<128xf32>{{$}}
// CHECK-DAG: %[[Y:.*]] = exec.buffer output 1 : tensor<256xf32>{{$}}
// CHECK: exec.dispatch @panels(%{{.*}}) -> (%[[A]]) scratch at 0{{$}}
// CHECK-NEXT: exec.dispatch @panels(%[[A]]) -> (%[[B]]) scratch at 512 in output 1{{$}}
// CHECK-NEXT: exec.dispatch @wide(%[[B]]) -> (%[[Y]]){{$}}
exec.kernel @panels(%x: tensor<128xf32>) -> tensor<128xf32> attributes {grid = 1 : i64, scratch_bytes = 500 : i64} {
  exec.yield %x : tensor<128xf32>
}
exec.kernel @wide(%x: tensor<128xf32>) -> tensor<256xf32> attributes {grid = 1 : i64, scratch_bytes = 0 : i64} {
  %c = arith.constant dense<0.0> : tensor<256xf32>
  exec.yield %c : tensor<256xf32>
}
exec.program @lent arena 1024 constants 0
    inputs [#exec.param<name = "", local = tensor<128xf32>, global = tensor<128xf32>>]
    outputs [#exec.param<name = "", local = tensor<4xf32>, global = tensor<4xf32>>,
             #exec.param<name = "", local = tensor<256xf32>, global = tensor<256xf32>>] {
  %i = exec.buffer input 0 : tensor<128xf32>
  %a = exec.buffer arena at 0 : tensor<128xf32> {array = array<i64: 0, 512, 1, 6>}
  %b = exec.buffer arena at 512 : tensor<128xf32> {array = array<i64: 512, 512, 5, 10>}
  %y = exec.buffer output 1 : tensor<256xf32> {array = array<i64: 0, 1024, 9, 14>}
  exec.dispatch @panels(%i) -> (%a) time 0
  exec.dispatch @panels(%a) -> (%b) time 4
  exec.dispatch @wide(%b) -> (%y) time 8
}

// -----

// When the caller needs a result is unknown: nothing new lies there.
// CHECK: exec.program @unknown_result arena 1024
// CHECK: exec.dispatch @panels(%{{.*}}) -> (%{{.*}}){{$}}
exec.kernel @panels(%x: tensor<128xf32>) -> tensor<128xf32> attributes {grid = 1 : i64, scratch_bytes = 500 : i64} {
  exec.yield %x : tensor<128xf32>
}
exec.program @unknown_result arena 1024 constants 0
    inputs [#exec.param<name = "", local = tensor<128xf32>, global = tensor<128xf32>>]
    outputs [#exec.param<name = "", local = tensor<256xf32>, global = tensor<256xf32>>] {
  %i = exec.buffer input 0 : tensor<128xf32>
  %a = exec.buffer arena at 0 : tensor<128xf32> {array = array<i64: 0, 512, 1, 6>}
  %b = exec.buffer arena at 512 : tensor<128xf32> {array = array<i64: 512, 512, 1, 6>}
  %y = exec.buffer output 0 : tensor<256xf32>
  exec.dispatch @panels(%a) -> (%b) time 0
}
