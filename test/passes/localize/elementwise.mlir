// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// The same ops on local parts; broadcast and transpose follow their dimensions.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %arg0, %arg0 : tensor<2xf32>
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[A]], dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8xf32>) -> tensor<8x6xf32>
  // CHECK-NEXT: stablehlo.transpose %[[B]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<8x6xf32>) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}
