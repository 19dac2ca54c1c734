// A module in which something has no final sharding is refused.
// RUN: tessera-opt %s --tessera-verify-propagate --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0 of @main has no sharding; run --tessera-propagate}}
func.func @main(%a: tensor<8xf32>) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{result 1 of @main has a sharding with open dimensions; run --tessera-propagate}}
func.func @main() -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.constant dense<0.0> : tensor<8xf32>
  return %0, %1 : tensor<f32>, tensor<8xf32>
}

// -----

func.func @main() {
  // expected-error @+1 {{result 0 has no sharding}}
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{is left after propagation}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{is not propagated through; run --tessera-inline-calls before}}
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return %a : tensor<8xf32>
}
