// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// Carried values are local; trip counts stay.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  // CHECK: stablehlo.while(%{{.*}} = %arg0, %{{.*}} = %{{.*}}) : tensor<2xf32>, tensor<i32>
  // CHECK-SAME: tessera.trip_count = #tessera.trip_count<3>
  %0:2 = stablehlo.while(%a = %x, %i = %c) : tensor<8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, []>]>, tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: stablehlo.tanh %{{.*}} : tensor<2xf32>
    %1 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %2 : tensor<8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8xf32>
}
