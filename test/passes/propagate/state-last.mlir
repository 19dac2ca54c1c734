// The gradient of a weight that lies in shards along "data" (FSDP), from a batch that does, too. The weight is state: an argument with the type and
// annotation of a result. If it went first, as by size alone, activations would lie in shards of their features, and the batch be gathered.
// RUN: tessera-opt %s --tessera-propagate | FileCheck %s
// RUN: tessera-opt %s --tessera-propagate-shardings=by-size | FileCheck %s --check-prefix=SIZE

sdy.mesh @mesh = <["data"=8]>
// CHECK-LABEL: @step
// SIZE-LABEL: @step
func.func @step(%w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %h: tensor<512x64xf32>,
                %dy: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  // CHECK: stablehlo.tanh {{.*}}[<@mesh, [{"data"}, {}]>]
  // SIZE: stablehlo.tanh {{.*}}[<@mesh, [{?}, {"data", ?}]>]
  %0 = stablehlo.tanh %h : tensor<512x64xf32>
  %1 = stablehlo.dot_general %0, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
