// RUN: tessera-opt %s --tessera-hoist-collectives | FileCheck %s
// What a loop does not change is gathered once.

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
// CHECK-LABEL: @loop
func.func @loop(%w: tensor<2xf32>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: %[[G:.*]] = comm.all_gather(%arg0)
  // CHECK: stablehlo.while
  %0:3 = stablehlo.while(%v = %w, %a = %x, %i = %c) : tensor<2xf32>, tensor<64xf32>, tensor<i32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK-NOT: comm.all_gather
    // CHECK: stablehlo.concatenate %[[G]]
    // CHECK: comm.all_reduce
    %1 = comm.all_gather(%v) dim 0 over <@mesh, ["x"=4]> : (tensor<2xf32>) -> tensor<8xf32>
    %2 = stablehlo.concatenate %1, %1, %1, %1, %1, %1, %1, %1, dim = 0 : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<64xf32>
    %3 = comm.all_reduce sum(%a) over <@mesh, ["x"=4]> : (tensor<64xf32>) -> tensor<64xf32>
    %4 = stablehlo.add %2, %3 : tensor<64xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %v, %4, %5 : tensor<2xf32>, tensor<64xf32>, tensor<i32>
  }
  return %0#1 : tensor<64xf32>
}
