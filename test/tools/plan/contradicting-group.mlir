// Members of one group that are annotated otherwise: mistakes.mlir. Compiled, each stays as it is annotated.
// RUN: tessera compile %s -o %t 2>&1 | FileCheck %s
// CHECK: warning: {{.*}}stays as it is annotated
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<4x4xf32>
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<4x4xf32>
  sdy.sharding_group %1 group_id=0 : tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
