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

// What a kernel needs beside arrays counts: one that needs much runs before another's result is there.
// CHECK-LABEL: @scratch
// CHECK: stablehlo.cosine
// CHECK: stablehlo.tanh
func.func @scratch(%x: tensor<512x512xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = exec.fused(%a = %x : tensor<512x512xf32>) -> tensor<512x512xf32> {
    %3 = stablehlo.tanh %a : tensor<512x512xf32>
    exec.yield %3 : tensor<512x512xf32>
  }
  %1 = exec.fused(%a = %y : tensor<8xf32>) -> tensor<8xf32> attributes {tessera.scratch = 1048576 : i64} {
    %3 = stablehlo.cosine %a : tensor<8xf32>
    exec.yield %3 : tensor<8xf32>
  }
  %2 = exec.fused(%a = %0 : tensor<512x512xf32>, %b = %1 : tensor<8xf32>) -> tensor<8xf32> {
    %3 = stablehlo.slice %a [0:1, 0:8] : (tensor<512x512xf32>) -> tensor<1x8xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
    %5 = stablehlo.add %4, %b : tensor<8xf32>
    exec.yield %5 : tensor<8xf32>
  }
  return %2 : tensor<8xf32>
}
