// RUN: tessera-opt %s --tessera-memory --split-input-file | FileCheck %s

// What lies on the host has an arena of its own; what comes back may lie in an output.
// CHECK-LABEL: exec.program @main arena 0 host 64 constants 0
// CHECK-DAG:     %[[D:.*]] = exec.buffer output 0
// CHECK-DAG:     %[[H:.*]] = exec.buffer host at 0
// CHECK:         exec.copy_start 0 %{{.*}} to %[[H]]
// CHECK-NEXT:    exec.wait 0
// CHECK-NEXT:    exec.copy_start 1 %[[H]] to %[[D]]
// CHECK-NEXT:    exec.wait 1
// CHECK-NEXT:    exec.dispatch
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s, %a = comm.start_transfer to host (%x) : (tensor<16xf32>) -> (tensor<16xf32>, !comm.handle)
  %h = comm.wait %a(%s) : tensor<16xf32>
  %t, %b = comm.start_transfer to device (%h) : (tensor<16xf32>) -> (tensor<16xf32>, !comm.handle)
  %d = comm.wait %b(%t) : tensor<16xf32>
  %y = exec.fused(%p = %d : tensor<16xf32>, %q = %x : tensor<16xf32>) -> tensor<16xf32> {
    %1 = stablehlo.add %p, %q : tensor<16xf32>
    exec.yield %1 : tensor<16xf32>
  }
  return %y : tensor<16xf32>
}

// -----

// A donated array on the host is updated where it lies; of the device's outputs none takes its memory. The part's place is read when
// the copy begins.
// CHECK-LABEL: exec.program @main arena 0 constants 0
// CHECK-SAME:    donated = true, memory = host
// CHECK-SAME:    alias = 0, memory = host
// CHECK-DAG:     %[[S:.*]] = exec.buffer input 0
// CHECK-DAG:     %[[X:.*]] = exec.buffer input 1
// CHECK-DAG:     %[[I:.*]] = exec.buffer input 2
// CHECK-NOT:     exec.copy %
// CHECK:         exec.copy_start 0 %[[X]] to %[[S]] at %[[I]] step 64
func.func @main(%s: tensor<8x16xf32> {tessera.memory = #comm<space host>, jax.buffer_donor = true}, %x: tensor<1x16xf32>, %i: tensor<i32>)
    -> (tensor<1x16xf32>, tensor<8x16xf32> {tessera.memory = #comm<space host>}) {
  %n, %a = comm.start_transfer to host (%x) into %s at %i : (tensor<1x16xf32>, tensor<8x16xf32>, tensor<i32>) -> (tensor<8x16xf32>, !comm.handle)
  %h = comm.wait %a(%n) : tensor<8x16xf32>
  %y = exec.fused(%q = %x : tensor<1x16xf32>) -> tensor<1x16xf32> {
    %1 = stablehlo.tanh %q : tensor<1x16xf32>
    exec.yield %1 : tensor<1x16xf32>
  }
  return %y, %h : tensor<1x16xf32>, tensor<8x16xf32>
}

// -----

// An array that the caller keeps is copied before, on the host.
// CHECK-LABEL: exec.program @main
// CHECK-DAG:     %[[S:.*]] = exec.buffer input 0
// CHECK-DAG:     %[[O:.*]] = exec.buffer output 0
// CHECK:         exec.copy %[[S]] to %[[O]]
// CHECK-NEXT:    exec.copy_start 0 %{{.*}} to %[[O]] at
func.func @main(%s: tensor<8x16xf32> {tessera.memory = #comm<space host>}, %x: tensor<1x16xf32>, %i: tensor<i32>)
    -> (tensor<8x16xf32> {tessera.memory = #comm<space host>}) {
  %n, %a = comm.start_transfer to host (%x) into %s at %i : (tensor<1x16xf32>, tensor<8x16xf32>, tensor<i32>) -> (tensor<8x16xf32>, !comm.handle)
  %h = comm.wait %a(%n) : tensor<8x16xf32>
  return %h : tensor<8x16xf32>
}

// -----

// Rows are repeated on the host, twice as many each time.
// CHECK-LABEL: exec.program @main
// CHECK-DAG:     %[[A:.*]] = exec.buffer output 0 : tensor<4x4xf32>
// CHECK-DAG:     %[[B:.*]] = exec.buffer output 0 at 64 : tensor<4x4xf32>
// CHECK-DAG:     %[[C:.*]] = exec.buffer output 0 at 128 : tensor<2x4xf32>
// CHECK-DAG:     %[[R:.*]] = exec.buffer output 0 : tensor<2x4xf32>
// CHECK:         exec.copy %{{.*}} to %[[A]]
// CHECK-NEXT:    exec.copy %[[A]] to %[[B]]
// CHECK-NEXT:    exec.copy %[[R]] to %[[C]]
func.func @main(%r: tensor<4x4xf32>) -> (tensor<10x4xf32> {tessera.memory = #comm<space host>}) {
  %0 = comm.transfer to host (%r) : (tensor<4x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}
