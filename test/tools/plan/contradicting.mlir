// Members of one group that cannot lie alike, as they have other ranks: mistakes.mlir.
// RUN: not tessera compile %s -o %t
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4x4xf32>) -> tensor<16xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<4x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<4x4xf32>) -> tensor<16xf32>
  sdy.sharding_group %1 group_id=0 : tensor<16xf32>
  return %1 : tensor<16xf32>
}
