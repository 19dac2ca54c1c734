// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: func.func @forms
// CHECK-NEXT: comm.transfer to  host(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: comm.transfer to  device(%{{.*}}) at %arg2 : (tensor<8x4xf32>, tensor<i32>) -> tensor<2x4xf32>
// CHECK-NEXT: comm.transfer to  host(%arg1) into %{{.*}} at %arg2 : (tensor<2x4xf32>, tensor<8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
// CHECK-NEXT: comm.transfer to  host(%arg1) : (tensor<2x4xf32>) -> tensor<9x4xf32>
// CHECK-NEXT: %[[S:.*]], %[[H:.*]] = comm.start_transfer to  host(%arg0) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, !comm.handle)
// CHECK-NEXT: comm.wait %[[H]](%[[S]]) : tensor<8x4xf32>
func.func @forms(%x: tensor<8x4xf32>, %p: tensor<2x4xf32>, %i: tensor<i32>) {
  %h = comm.transfer to host (%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %d = comm.transfer to device (%h) at %i : (tensor<8x4xf32>, tensor<i32>) -> tensor<2x4xf32>
  %n = comm.transfer to host (%p) into %h at %i : (tensor<2x4xf32>, tensor<8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
  %r = comm.transfer to host (%p) : (tensor<2x4xf32>) -> tensor<9x4xf32>
  %s, %a = comm.start_transfer to host (%x) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, !comm.handle)
  %w = comm.wait %a(%s) : tensor<8x4xf32>
  return
}
