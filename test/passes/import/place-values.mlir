// RUN: tessera-opt %s --tessera-place-values --split-input-file | FileCheck %s

// Arguments and results lie where the signature says. What is computed with is on the device.
// CHECK-LABEL: func.func @signature
// CHECK-SAME:    %arg0: tensor<4xf32> {tessera.memory = #comm<space host>}
// CHECK-SAME:    %arg1: tensor<4xf32>)
// CHECK-SAME:    -> (tensor<4xf32> {tessera.memory = #comm<space host>}, tensor<4xf32>)
// CHECK-NEXT:    %[[D:.*]] = comm.transfer to  device(%arg0)
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %[[D]], %arg1
// CHECK-NEXT:    %[[H:.*]] = comm.transfer to  host(%[[S]])
// CHECK-NEXT:    return %[[H]], %arg1
func.func @signature(%h: tensor<4xf32> {mhlo.memory_kind = "pinned_host"}, %d: tensor<4xf32> {mhlo.memory_kind = "device"})
    -> (tensor<4xf32> {mhlo.memory_kind = "unpinned_host"}, tensor<4xf32> {mhlo.memory_kind = "device"}) {
  %0 = stablehlo.add %h, %d : tensor<4xf32>
  return %0, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

// A result of which nothing is said lies where its value does: not on the device in silence.
// CHECK-LABEL: func.func @unsaid
// CHECK-SAME:    -> (tensor<4xf32> {tessera.memory = #comm<space host>})
// CHECK-NEXT:    %[[H:.*]] = comm.transfer to  host(%arg0)
// CHECK-NEXT:    return %[[H]]
func.func @unsaid(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = comm.transfer to host (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// To where it lies already: nothing to copy.
// CHECK-LABEL: func.func @idle
// CHECK-NEXT:    return %arg0
func.func @idle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = comm.transfer to device (%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Parts go to the host: so does the array that they are put into, from its beginning on. A transfer holds it there.
// CHECK-LABEL: func.func @stash
// CHECK:         %[[I:.*]] = comm.transfer to  host(%arg1)
// CHECK:         %[[L:.*]]:2 = stablehlo.while(%{{.*}} = %{{.*}}, %[[S:.*]] = %[[I]])
// CHECK:           %[[P:.*]] = comm.transfer to  host(%arg0)
// CHECK:           %[[C:.*]] = comm.transfer to  host(%[[S]])
// CHECK-NEXT:      %[[U:.*]] = stablehlo.dynamic_update_slice %[[C]], %[[P]]
// CHECK:           stablehlo.return %{{.*}}, %[[U]]
// CHECK:         %[[D:.*]] = comm.transfer to  device(%[[L]]#1)
// CHECK-NEXT:    stablehlo.sine %[[D]]
func.func @stash(%x: tensor<1x4xf32>, %a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %s = %a) : tensor<i32>, tensor<3x4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %h = comm.transfer to host (%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %u = stablehlo.dynamic_update_slice %s, %h, %i, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %u : tensor<i32>, tensor<3x4xf32>
  }
  %1 = stablehlo.sine %0#1 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// One branch gives what lies on the host: both do.
// CHECK-LABEL: func.func @branches
// CHECK:         "stablehlo.if"
// CHECK:           %[[A:.*]] = comm.transfer to  host(%arg1)
// CHECK:           stablehlo.return
// CHECK:           %[[B:.*]] = comm.transfer to  host(%arg1)
// CHECK-NEXT:      stablehlo.return %[[B]]
func.func @branches(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    %h = comm.transfer to host (%x) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %h : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
