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
