// The whole phase: a collective starts as soon as its operand is there, and is waited for after the kernel that does not need it.
// RUN: tessera-opt %s --tessera-order | FileCheck %s
// RUN: tessera-opt %s --tessera-set-schedule=overlap=off --tessera-order | FileCheck %s --check-prefix=OFF

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: @main
func.func @main(%x: tensor<8xf32>, %y: tensor<512x512xf32>) -> (tensor<8xf32>, tensor<512x512xf32>) {
  // CHECK-NEXT: %[[OUT:.*]], %[[HANDLE:.*]] = comm.start all_reduce(%arg0) over <@mesh, ["x"=2]>
  // OFF: %[[OUT:.*]], %[[HANDLE:.*]] = comm.start all_reduce
  // OFF-NEXT: comm.wait %[[HANDLE]](%[[OUT]])
  // OFF-NEXT: exec.fused
  // CHECK-NEXT: exec.fused
  // CHECK: %[[SUM:.*]] = comm.wait %[[HANDLE]](%[[OUT]])
  // CHECK: return %[[SUM]]
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=2]> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = exec.fused(%a = %y : tensor<512x512xf32>) -> tensor<512x512xf32> {
    %2 = stablehlo.tanh %a : tensor<512x512xf32>
    exec.yield %2 : tensor<512x512xf32>
  }
  return %0, %1 : tensor<8xf32>, tensor<512x512xf32>
}
