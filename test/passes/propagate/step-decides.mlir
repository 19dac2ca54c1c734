// Three gradients of weights that lie in shards along "data", of one dy. With activations in shards of the batch, each gradient is reduced
// and scattered: three messages of 14 KB. With activations in shards of their features, dy is gathered: one message of 115 KB. By their
// reshards one way has it in bytes and the other in time, so the step that each becomes decides.
// RUN: tessera-opt %s --split-input-file --tessera-propagate | FileCheck %s

// The gradients travel while the next ones are computed, and nothing can be computed before dy is there. Guards against taking latencies for
// time that passes.
module attributes {tessera.topology = #tessera.topology<alpha = 1.0e-05, beta = 4.0e+09>} {
  sdy.mesh @mesh = <["data"=8]>
  func.func @step(%u: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                  %v: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                  %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                  %f: tensor<512x64xf32>, %g: tensor<512x64xf32>, %h: tensor<512x64xf32>,
                  %dy: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
      -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
          tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
          tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
    // CHECK: stablehlo.tanh {{.*}}[<@mesh, [{"data"}, {}]>]
    %0 = stablehlo.tanh %f : tensor<512x64xf32>
    %1 = stablehlo.dot_general %0, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.subtract %u, %1 : tensor<64x64xf32>
    %3 = stablehlo.tanh %g : tensor<512x64xf32>
    %4 = stablehlo.dot_general %3, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.subtract %v, %4 : tensor<64x64xf32>
    %6 = stablehlo.tanh %h : tensor<512x64xf32>
    %7 = stablehlo.dot_general %6, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
    %8 = stablehlo.subtract %w, %7 : tensor<64x64xf32>
    return %2, %5, %8 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}

// -----

// Bytes take next to nothing. Guards against going by them.
module attributes {tessera.topology = #tessera.topology<flops = 6.7e+13, memory = 3.35e+12, processors = 1.32e+02, launch = 2.0e-06, alpha = 3.0e-06, beta = 4.5e+11>} {
  sdy.mesh @mesh = <["data"=8]>
  func.func @step(%u: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                  %v: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                  %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                  %f: tensor<512x64xf32>, %g: tensor<512x64xf32>, %h: tensor<512x64xf32>,
                  %dy: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
      -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
          tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
          tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
    // CHECK: stablehlo.tanh {{.*}}[<@mesh, [{}, {"data"}]>]
    %0 = stablehlo.tanh %f : tensor<512x64xf32>
    %1 = stablehlo.dot_general %0, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.subtract %u, %1 : tensor<64x64xf32>
    %3 = stablehlo.tanh %g : tensor<512x64xf32>
    %4 = stablehlo.dot_general %3, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.subtract %v, %4 : tensor<64x64xf32>
    %6 = stablehlo.tanh %h : tensor<512x64xf32>
    %7 = stablehlo.dot_general %6, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
    %8 = stablehlo.subtract %w, %7 : tensor<64x64xf32>
    return %2, %5, %8 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}
