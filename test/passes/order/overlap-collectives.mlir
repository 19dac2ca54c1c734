// The gather starts when its operand is there; work that does not need it comes before its wait.
// RUN: tessera-opt %s --tessera-overlap-collectives --tessera-verify-order | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = exec.fused(%{{.*}} = %arg0
// CHECK: %[[R:.*]], %[[H:.*]] = comm.start all_gather(%[[A]]) over <@mesh, ["x"=4]> {dim = 0 : i64}
// CHECK: %[[B:.*]] = exec.fused(%{{.*}} = %arg1
// CHECK: %[[G:.*]] = comm.wait %[[H]](%[[R]])
// CHECK-NEXT: %[[V:.*]] = stablehlo.reshape %[[G]]
// CHECK-NEXT: exec.fused(%{{.*}} = %[[V]]
func.func @main(%x: tensor<8xf32>, %y: tensor<4096xf32>) -> (tensor<4x8xf32>, tensor<4096xf32>) {
  %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.exponential %p : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %g = comm.all_gather(%a) dim 0 over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<32xf32>
  %v = stablehlo.reshape %g : (tensor<32xf32>) -> tensor<4x8xf32>
  %c = exec.fused(%p = %v : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.negate %p : tensor<4x8xf32>
    exec.yield %0 : tensor<4x8xf32>
  }
  %b = exec.fused(%p = %y : tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = stablehlo.negate %p : tensor<4096xf32>
    exec.yield %0 : tensor<4096xf32>
  }
  return %c, %b : tensor<4x8xf32>, tensor<4096xf32>
}
