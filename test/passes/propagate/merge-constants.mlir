// Copies of a constant merge when their shardings are equal, and only then. Wrong would be: a use whose operand
// suddenly has another sharding.
// RUN: tessera-opt %s --tessera-merge-constants | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: @main
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[SHARDED:.*]] = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  // CHECK-NEXT: %[[WHOLE:.*]] = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %2 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} dense<1.0> : tensor<8xf32>
  // CHECK-NEXT: stablehlo.add %{{.*}}, %[[SHARDED]]
  // CHECK-NEXT: stablehlo.add %{{.*}}, %[[SHARDED]]
  // CHECK-NEXT: stablehlo.add %{{.*}}, %[[WHOLE]]
  %3 = stablehlo.add %x, %0 : tensor<8xf32>
  %4 = stablehlo.add %x, %1 : tensor<8xf32>
  %5 = stablehlo.add %x, %2 : tensor<8xf32>
  return %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// What nothing uses any more goes, with what only it used. Wrong would be: arrays that no result needs.
// CHECK-LABEL: @unused
func.func @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %x : tensor<8xf32>
}
