// The whole phase: what is computed between two collectives is one kernel; the collectives stay outside of kernels.
// RUN: tessera-opt %s --tessera-fuse | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: @main
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[K0:.*]] = exec.fused
  // CHECK-NEXT: stablehlo.multiply
  // CHECK-NEXT: stablehlo.tanh
  // CHECK-NEXT: exec.yield
  // CHECK: %[[SUM:.*]] = comm.all_reduce sum(%[[K0]])
  // CHECK-NEXT: %[[K1:.*]] = exec.fused
  // CHECK-NEXT: stablehlo.exponential
  // CHECK-NEXT: exec.yield
  // CHECK: return %[[K1]]
  %0 = stablehlo.multiply %x, %y : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %2 = comm.all_reduce sum(%1) over <@mesh, ["x"=2]> : (tensor<8xf32>) -> tensor<8xf32>
  %3 = stablehlo.exponential %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
