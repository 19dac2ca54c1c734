// RUN: tessera-opt %s --tessera-verify-localize -split-input-file -verify-diagnostics
// A reshard, a sharding on an op, or a signature without global types must not be left.

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%x: tensor<3xf32> {tessera.global = tensor<3xf32>}) -> (tensor<3xf32> {tessera.global = tensor<3xf32>}) {
  // expected-error @+1 {{'sdy.reshard' must be gone after localize}}
  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%x: tensor<3xf32> {tessera.global = tensor<3xf32>}) -> (tensor<3xf32> {tessera.global = tensor<3xf32>}) {
  // expected-error @+1 {{attribute 'sdy.sharding' must be gone after localize}}
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// expected-error @+1 {{argument 0 must name its global type in 'tessera.global'}}
func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32> {tessera.global = tensor<3xf32>}) {
  return %x : tensor<3xf32>
}

// -----

func.func public @main(%x: tensor<f32> {tessera.global = tensor<f32>}) -> (tensor<f32> {tessera.global = tensor<f32>}) {
  // expected-error @+1 {{each device would hold an array of type 'tensor<4398046511105xf32>', more than 16 TiB, which none can; shard it}}
  %0 = stablehlo.iota dim = 0 : tensor<4398046511105xf32>
  return %x : tensor<f32>
}
