// On two meshes: mistakes.mlir.
// RUN: tessera compile %s -o %t --quiet
sdy.mesh @a = <["x"=4]>
sdy.mesh @b = <["y"=2, "z"=2]>
func.func public @main(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>},
                       %y: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@b, [{}, {"y"}]>}) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.tanh %x : tensor<64x64xf32>
  %1 = stablehlo.tanh %y : tensor<64x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}
