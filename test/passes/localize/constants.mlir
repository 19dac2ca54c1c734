// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// Splats shrink, other constants are cut where they stand, iota counts from the shard's first row.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK-DAG: %[[S:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  // CHECK-DAG: %[[C:.*]] = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-DAG: comm.slice %[[C]] dim 0 over <@mesh, ["y"=2]> : (tensor<4xi32>) -> tensor<2xi32>
  %1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-DAG: stablehlo.iota dim = 0 : tensor<2xi32>
  // CHECK-DAG: comm.axis_index over <@mesh, ["x"=4]>
  %2 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xi32>
  return %0, %1, %2 : tensor<8xf32>, tensor<4xi32>, tensor<8xi32>
}
