// RUN: tessera-opt %s --tessera-order | FileCheck %s

// A copy engine works beside the device: a transfer starts as soon as its operand is there. One that repeats rows stays whole.
// CHECK-LABEL: func.func @main
// CHECK:         %[[S:.*]], %[[HANDLE:.*]] = comm.start_transfer to  host(%arg0) : (tensor<262144xf32>) -> (tensor<262144xf32>, !comm.handle)
// CHECK:         exec.fused
// CHECK:         comm.transfer to  host(%{{.*}}) : (tensor<16x1xf32>) -> tensor<64x1xf32>
// CHECK:         comm.wait %[[HANDLE]](%[[S]])
func.func @main(%x: tensor<262144xf32>, %r: tensor<16x1xf32>)
    -> (tensor<262144xf32> {tessera.memory = #comm<space host>}, tensor<262144xf32>, tensor<64x1xf32> {tessera.memory = #comm<space host>}) {
  %h = comm.transfer to host (%x) : (tensor<262144xf32>) -> tensor<262144xf32>
  %y = exec.fused(%a = %x : tensor<262144xf32>) -> tensor<262144xf32> {
    %t = stablehlo.tanh %a : tensor<262144xf32>
    exec.yield %t : tensor<262144xf32>
  }
  %m = comm.transfer to host (%r) : (tensor<16x1xf32>) -> tensor<64x1xf32>
  return %h, %y, %m : tensor<262144xf32>, tensor<262144xf32>, tensor<64x1xf32>
}
