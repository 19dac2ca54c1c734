// The whole phase: two sums over the same devices that are added become one.
// RUN: tessera-opt %s --tessera-communicate | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: @main
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[ADDED:.*]] = stablehlo.add %arg0, %arg1
  // CHECK-NEXT: %[[SUM:.*]] = comm.all_reduce sum(%[[ADDED]]) over <@mesh, ["x"=2]>
  // CHECK-NEXT: return %[[SUM]]
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=2]> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = comm.all_reduce sum(%y) over <@mesh, ["x"=2]> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
