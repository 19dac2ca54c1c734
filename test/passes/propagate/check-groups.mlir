// Members of a sharding group that are annotated differently can't be sharded alike.
// RUN: tessera-opt %s --tessera-check-groups -verify-diagnostics -split-input-file

sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xf32>) {
  // expected-note@+1 {{the other value}}
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  // expected-error@+1 {{sharding group 3 holds a value with #sdy.sharding<@mesh, [{}, {"x"}]> here and one with #sdy.sharding<@mesh, [{"x"}, {}]>}}
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=3 : tensor<8x4xf32>
  return
}

// -----

// What is open may still be changed.
sdy.mesh @mesh = <["x"=4]>
func.func @open(%a: tensor<8x4xf32>) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}]>]>} : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=3 : tensor<8x4xf32>
  return
}
