// RUN: tessera-opt %s --tessera-merge-reductions | FileCheck %s
// The sum of three reduced values is reduced once.

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
// CHECK-LABEL: @sum
func.func @sum(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %arg0, %arg1
  // CHECK-NEXT: %[[B:.*]] = stablehlo.add %[[A]], %arg2
  // CHECK-NEXT: comm.all_reduce sum(%[[B]])
  // CHECK-NEXT: return
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = comm.all_reduce sum(%y) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = comm.all_reduce sum(%z) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %3 = stablehlo.add %0, %1 : tensor<8xf32>
  %4 = stablehlo.add %3, %2 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// A maximum of sums is not the sum of maxima.
// CHECK-LABEL: @other
func.func @other(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-COUNT-2: comm.all_reduce
  // CHECK-NEXT: stablehlo.maximum
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = comm.all_reduce sum(%y) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.maximum %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Each sum of bf16 is rounded once, as where devices do not add up at all.
// CHECK-LABEL: @narrow
func.func @narrow(%x: tensor<8xbf16>, %y: tensor<8xbf16>) -> tensor<8xbf16> {
  // CHECK-COUNT-2: comm.all_reduce
  // CHECK-NEXT: stablehlo.add
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<8xbf16>) -> tensor<8xbf16>
  %1 = comm.all_reduce sum(%y) over <@mesh, ["x"=4]> : (tensor<8xbf16>) -> tensor<8xbf16>
  %2 = stablehlo.add %0, %1 : tensor<8xbf16>
  return %2 : tensor<8xbf16>
}
