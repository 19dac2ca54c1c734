// Tensors of one op on several meshes: their axes are not compared.
// RUN: tessera explain %s | FileCheck %s
// CHECK: 8 devices, mesh @a: x=8
sdy.mesh @empty = <[]>
sdy.mesh @max = <[], device_ids=[5]>
sdy.mesh @a = <["x"=8]>
func.func public @main(%a: tensor<16x8xf64> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>},
                       %b: tensor<16x8xf64> {sdy.sharding = #sdy.sharding<@empty, [{}, {}]>}) -> tensor<16x8xf64> {
  %0 = stablehlo.add %a, %b : tensor<16x8xf64>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@max, []>]>} : tensor<16x8xf64>
  return %1 : tensor<16x8xf64>
}
