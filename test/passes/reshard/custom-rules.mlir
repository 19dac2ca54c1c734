// RUN: tessera-opt %s --tessera-insert-reshards | FileCheck %s

// By JAX's rules for LAPACK's functions the batch is shared by operands and results; a dimension
// that only one of them has (of the matrix) must be whole, though the rule doesn't say so.

sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @qr
func.func @qr(%a: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  // CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}, {}]>
  // CHECK: stablehlo.custom_call @f(%[[R]])
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m]) {i=8, j=4, k=4, l=4, m=4}, custom>} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}
