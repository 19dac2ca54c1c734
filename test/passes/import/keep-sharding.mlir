// What takes the place of an annotated operation is annotated like it, result by result. Wrong would be an annotation that goes
// with its operation: the user's wish would be lost without a word.
// RUN: tessera-opt %s --tessera-decompose-custom-calls --tessera-decompose-chlo --tessera-decompose-random --tessera-loop-over-map --tessera-loop-over-reduce \
// RUN:   --tessera-close-computations --tessera-widen-converted --tessera-fold-empty-values --tessera-widen-exponents | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: @chlo
func.func public @chlo(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[SINH:.*]] = stablehlo.{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : {{.*}}tensor<8xf32>
  %0 = chlo.sinh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32> -> tensor<8xf32>
  // CHECK: %[[INV:.*]] = stablehlo.{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : {{.*}}tensor<8xf32>
  %1 = stablehlo.custom_call @mhlo.sinh(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: return %[[SINH]]
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Each of several results.
// CHECK-LABEL: @random
func.func @random(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<16xui32>) {
  // CHECK: stablehlo.reshape {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : {{.*}} -> tensor<16xui32>
  // CHECK: stablehlo.concatenate {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : {{.*}} -> tensor<2xui64>
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}>
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}]>]>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<16xui32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<16xui32>
}

// Without the results that hold nothing.
// CHECK-LABEL: @empty
func.func @empty(%a: tensor<8xf32>, %e: tensor<0xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.while
  // CHECK-SAME: sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>
  %0:2 = stablehlo.while(%v = %e, %w = %a) : tensor<0xf32>, tensor<8xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}]>]>}
    cond {
      %b = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %b : tensor<i1>
    } do {
      stablehlo.return %v, %w : tensor<0xf32>, tensor<8xf32>
    }
  return %0#1 : tensor<8xf32>
}

// CHECK-LABEL: @exponents
func.func @exponents(%a: tensor<8xf8E8M0FNU>) -> tensor<8xf8E8M0FNU> {
  // CHECK: stablehlo.convert {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf64>) -> tensor<8xf8E8M0FNU>
  %0 = stablehlo.multiply %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf8E8M0FNU>
  return %0 : tensor<8xf8E8M0FNU>
}

// What a constraint says is the constraint's: a conversion of its result has none of its own.
// CHECK-LABEL: @constraint
func.func @constraint(%a: tensor<8x4xbf16>, %z: tensor<f32>) -> (tensor<8x4xbf16>, tensor<8x4xf32>) {
  // CHECK: %[[C:.*]] = sdy.sharding_constraint
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x4xbf16>
  // CHECK: stablehlo.convert %[[C]] : (tensor<8x4xbf16>) -> tensor<8x4xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x4xbf16>
  %2 = stablehlo.convert %1 : (tensor<8x4xbf16>) -> tensor<8x4xf32>
  return %1, %2 : tensor<8x4xbf16>, tensor<8x4xf32>
}
