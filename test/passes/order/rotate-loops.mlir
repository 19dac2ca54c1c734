// Across trips: the weights of the next trip are gathered beside this trip's computation, where that hides them.
// RUN: tessera-opt %s --tessera-overlap-collectives --tessera-verify-order --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @ahead
// The first trip's, before the loop.
// CHECK: comm.start all_gather
// CHECK: comm.wait
// CHECK: stablehlo.while
// CHECK-SAME: trip_count<3>
// CHECK: } do {
// CHECK: comm.start all_gather
// CHECK: comm.wait
// CHECK: stablehlo.return
// The last trip's computation, behind it.
// CHECK: stablehlo.dot_general
// CHECK: return
module attributes {tessera.topology = #tessera.topology<alpha = 1.000000e-06, beta = 1.000000e+08, flops = 1.000000e+10, memory = 1.000000e+12>} {
sdy.mesh @mesh = <["x"=4]>
func.func @ahead(%w: tensor<4x16x64xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %c = exec.fused(%p = %i : tensor<i32>) -> tensor<i1> {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %0 = stablehlo.compare LT, %p, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %c : tensor<i1>
  } do {
    %part = exec.fused(%p = %w : tensor<4x16x64xf32>, %q = %i : tensor<i32>) -> tensor<1x16x64xf32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.dynamic_slice %p, %q, %z, %z, sizes = [1, 16, 64] : (tensor<4x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
      exec.yield %0 : tensor<1x16x64xf32>
    }
    %view = stablehlo.reshape %part : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
    %g = comm.all_gather(%view) dim 0 over <@mesh, ["x"=4]> : (tensor<16x64xf32>) -> tensor<64x64xf32>
    %a = exec.fused(%p = %y : tensor<64x64xf32>, %q = %g : tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      exec.yield %0 : tensor<64x64xf32>
    }
    %b = exec.fused(%p = %a : tensor<64x64xf32>, %q = %x : tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      exec.yield %0 : tensor<64x64xf32>
    }
    %n = exec.fused(%p = %i : tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.add %p, %one : tensor<i32>
      exec.yield %0 : tensor<i32>
    }
    stablehlo.return %n, %b : tensor<i32>, tensor<64x64xf32>
  }
  return %r#1 : tensor<64x64xf32>
}
}

// -----

// What the trip before makes cannot be gathered ahead of it, and there is nothing to hide it behind.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @needed
// CHECK: trip_count<4>
func.func @needed(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %c = exec.fused(%p = %i : tensor<i32>) -> tensor<i1> {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %0 = stablehlo.compare LT, %p, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %c : tensor<i1>
  } do {
    %g = comm.all_reduce sum(%y) over <@mesh, ["x"=4]> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %a = exec.fused(%p = %g : tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.dot_general %p, %p, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      exec.yield %0 : tensor<64x64xf32>
    }
    %n = exec.fused(%p = %i : tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.add %p, %one : tensor<i32>
      exec.yield %0 : tensor<i32>
    }
    stablehlo.return %n, %a : tensor<i32>, tensor<64x64xf32>
  }
  return %r#1 : tensor<64x64xf32>
}

// -----

// What the last trip would leave for a next one is not made where nothing behind the loop reads it.
// CHECK-LABEL: func.func @last_is_unread
// CHECK: stablehlo.while
// CHECK-SAME: trip_count<3>
// CHECK: comm.start permute
// CHECK: stablehlo.return
// CHECK-NOT: comm.start
// CHECK: return
module attributes {tessera.topology = #tessera.topology<alpha = 1.000000e-06, beta = 1.000000e+08, flops = 1.000000e+10, memory = 1.000000e+12>} {
sdy.mesh @mesh = <["x"=4]>
func.func @last_is_unread(%w: tensor<4x64x64xf32>, %x: tensor<64x64xf32>, %s: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %t = %s) : tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %c = exec.fused(%p = %i : tensor<i32>) -> tensor<i1> {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %0 = stablehlo.compare LT, %p, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %c : tensor<i1>
  } do {
    %square = exec.fused(%p = %w : tensor<4x64x64xf32>, %q = %i : tensor<i32>) -> tensor<64x64xf32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.dynamic_slice %p, %q, %z, %z, sizes = [1, 64, 64] : (tensor<4x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      exec.yield %2 : tensor<64x64xf32>
    }
    %a = exec.fused(%p = %y : tensor<64x64xf32>, %q = %square : tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.add %p, %q : tensor<64x64xf32>
      exec.yield %0 : tensor<64x64xf32>
    }
    %flat = stablehlo.reshape %a : (tensor<64x64xf32>) -> tensor<4096xf32>
    %moved = comm.permute(%flat) pairs [0, 1, 1, 2, 2, 3, 3, 0] over <@mesh, ["x"=4]> : (tensor<4096xf32>) -> tensor<4096xf32>
    %next = stablehlo.reshape %moved : (tensor<4096xf32>) -> tensor<64x64xf32>
    %sum = exec.fused(%p = %t : tensor<64x64xf32>, %q = %a : tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.add %p, %q : tensor<64x64xf32>
      exec.yield %0 : tensor<64x64xf32>
    }
    %j = exec.fused(%p = %i : tensor<i32>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.add %p, %one : tensor<i32>
      exec.yield %0 : tensor<i32>
    }
    stablehlo.return %j, %next, %sum : tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %r#2 : tensor<64x64xf32>
}
}
