// The gather starts when its operand is there; work that does not need it comes before its wait.
// RUN: tessera-opt %s --tessera-overlap-collectives --tessera-verify-order --split-input-file | FileCheck %s

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

// -----

// The loop's shifts have the links first: they would wait for the gather, which has time until the product.
module attributes {tessera.topology = #tessera.topology<alpha = 1.000000e-06, beta = 1.000000e+08, flops = 1.000000e+10, memory = 1.000000e+12>} {
sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @ring
// CHECK-NOT: comm.start all_gather
// CHECK: stablehlo.while
// CHECK: comm.start shift
// CHECK: comm.start all_gather
// CHECK: exec.fused
// CHECK: comm.wait
// CHECK: exec.fused
func.func @ring(%w: tensor<64x256xf32>, %x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %g = comm.all_gather(%w) dim 0 over <@mesh, ["x"=4]> : (tensor<64x256xf32>) -> tensor<256x256xf32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<256x256xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %c = exec.fused(%p = %i : tensor<i32>) -> tensor<i1> {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %0 = stablehlo.compare LT, %p, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %c : tensor<i1>
  } do {
    %s = comm.shift(%y) by 1 wrap over <@mesh, ["x"=4]> : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %n = exec.fused(%p = %i : tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.add %p, %one : tensor<i32>
      exec.yield %0 : tensor<i32>
    }
    stablehlo.return %n, %s : tensor<i32>, tensor<256x256xf32>
  }
  %a = exec.fused(%p = %r#1 : tensor<256x256xf32>) -> tensor<256x256xf32> {
    %0 = stablehlo.dot_general %p, %p, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    exec.yield %0 : tensor<256x256xf32>
  }
  %b = exec.fused(%p = %a : tensor<256x256xf32>, %q = %g : tensor<256x256xf32>) -> tensor<256x256xf32> {
    %0 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    exec.yield %0 : tensor<256x256xf32>
  }
  return %b : tensor<256x256xf32>
}
}
