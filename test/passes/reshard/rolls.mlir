// A roll whose slices lie on other axes than its result: they are moved there, and its rule is still that of a roll.
// RUN: tessera-opt %s --tessera-reshard | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=3, "z"=2]>

// CHECK-LABEL: @main
func.func @main(%x: tensor<17xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<17xi32> {
  %0 = stablehlo.slice %x [3:17] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<17xi32>) -> tensor<14xi32>
  %1 = stablehlo.slice %x [0:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<17xi32>) -> tensor<3xi32>
  // CHECK: %[[A:.*]] = sdy.reshard %{{.*}} <@mesh, [{"z", "x", "y"}]> : tensor<14xi32>
  // CHECK: %[[B:.*]] = sdy.reshard %{{.*}} <@mesh, [{"z", "x", "y"}]> : tensor<3xi32>
  // CHECK: stablehlo.concatenate %[[A]], %[[B]], dim = 0 {{.*}}[{"z", "x", "y"}]
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", "x", "y"}]>]>} : (tensor<14xi32>, tensor<3xi32>) -> tensor<17xi32>
  return %2 : tensor<17xi32>
}
