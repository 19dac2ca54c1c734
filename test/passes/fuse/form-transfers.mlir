// RUN: tessera-opt %s --tessera-form-transfers --split-input-file --verify-diagnostics | FileCheck %s

// A part of what lies on the host goes to the device from where it lies: the whole does not.
// CHECK-LABEL: func.func @part
// CHECK-NEXT:    %[[D:.*]] = comm.transfer to  device(%arg0) at %arg1 : (tensor<8x4xf32>, tensor<i32>) -> tensor<1x4xf32>
// CHECK-NEXT:    %[[V:.*]] = stablehlo.reshape %[[D]]
// CHECK-NEXT:    stablehlo.tanh %[[V]]
func.func @part(%h: tensor<8x4xf32> {tessera.memory = #comm<space host>}, %i: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %h, %i, %zero, sizes = [1, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x4xf32>) -> tensor<4xf32>
  %2 = comm.transfer to device (%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.tanh %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// A place in two dimensions is one row of as many as both have. Each start is kept within the array before.
// CHECK-LABEL: func.func @rows
// CHECK-DAG:     %[[H:.*]] = stablehlo.reshape %arg0 : (tensor<8x6x4xf32>) -> tensor<48x4xf32>
// CHECK:         %[[J:.*]] = stablehlo.clamp %{{.*}}, %arg2, %{{.*}} : tensor<i64>
// CHECK-NEXT:    %[[JI:.*]] = stablehlo.convert %[[J]] : (tensor<i64>) -> tensor<i32>
// CHECK:         %[[I:.*]] = stablehlo.clamp %{{.*}}, %arg1, %{{.*}} : tensor<i64>
// CHECK-NEXT:    %[[II:.*]] = stablehlo.convert %[[I]] : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT:    %[[SIX:.*]] = stablehlo.constant dense<6>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.multiply %[[II]], %[[SIX]]
// CHECK-NEXT:    %[[A:.*]] = stablehlo.add %[[JI]], %[[R]]
// CHECK:         comm.transfer to  device(%[[H]]) at %[[A]] : (tensor<48x4xf32>, tensor<i32>) -> tensor<2x4xf32>
func.func @rows(%h: tensor<8x6x4xf32> {tessera.memory = #comm<space host>}, %i: tensor<i64>, %j: tensor<i64>) -> tensor<1x2x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.dynamic_slice %h, %i, %j, %zero, sizes = [1, 2, 4] : (tensor<8x6x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x4xf32>
  %1 = comm.transfer to device (%0) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %2 = stablehlo.tanh %1 : tensor<1x2x4xf32>
  return %2 : tensor<1x2x4xf32>
}

// -----

// What goes into an array on the host goes to its place there at once.
// CHECK-LABEL: func.func @update
// CHECK-NEXT:    %[[V:.*]] = stablehlo.reshape %arg1
// CHECK-NEXT:    %[[N:.*]] = comm.transfer to  host(%[[V]]) into %arg0 at %arg2 : (tensor<1x4xf32>, tensor<8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
// CHECK-NEXT:    return %[[N]]
func.func @update(%h: tensor<8x4xf32> {tessera.memory = #comm<space host>}, %x: tensor<4xf32>, %i: tensor<i32>) -> (tensor<8x4xf32> {tessera.memory = #comm<space host>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = comm.transfer to host (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
  %2 = stablehlo.dynamic_update_slice %h, %1, %i, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// One number all over: few rows of it, of a multiple of 64 bytes, go to the host. A device never holds the whole.
// CHECK-LABEL: func.func @splat
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x4xf32>
// CHECK-NEXT:    comm.transfer to  host(%[[C]]) : (tensor<4x4xf32>) -> tensor<1000x4xf32>
func.func @splat() -> (tensor<1000x4xf32> {tessera.memory = #comm<space host>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<1000x4xf32>
  %1 = comm.transfer to host (%0) : (tensor<1000x4xf32>) -> tensor<1000x4xf32>
  return %1 : tensor<1000x4xf32>
}

// -----

// A part in several pieces: the device takes it, of the whole.
// CHECK-LABEL: func.func @pieces
// CHECK-NEXT:    %[[D:.*]] = comm.transfer to  device(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %[[P:.*]] = stablehlo.slice %[[D]] [0:8, 1:3]
// CHECK-NEXT:    stablehlo.tanh %[[P]]
func.func @pieces(%h: tensor<8x4xf32> {tessera.memory = #comm<space host>}) -> tensor<8x2xf32> {
  // expected-warning@+1 {{a part of an array in the host's memory that does not lie in one piece: all 128 bytes are copied to the device}}
  %0 = stablehlo.slice %h [0:8, 1:3] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %1 = comm.transfer to device (%0) : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %2 = stablehlo.tanh %1 : tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}

// -----

// A collective works on the device's memory, what it gives goes back to the host.
// CHECK-LABEL: func.func @collective
// CHECK-NEXT:    %[[D:.*]] = comm.transfer to  device(%arg0)
// CHECK-NEXT:    %[[G:.*]] = comm.all_gather(%[[D]])
// CHECK-NEXT:    %[[H:.*]] = comm.transfer to  host(%[[G]])
// CHECK-NEXT:    return %[[H]]
sdy.mesh @mesh = <["x"=2]>
func.func @collective(%h: tensor<4xf32> {tessera.memory = #comm<space host>}) -> (tensor<8xf32> {tessera.memory = #comm<space host>}) {
  %0 = comm.all_gather(%h) dim 0 over <@mesh, ["x"=2]> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
