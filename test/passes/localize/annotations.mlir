// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// A manual computation is inlined: its body is local in its manual axis, the free axis goes on being partitioned.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // CHECK: %[[R:.*]] = comm.shift(%arg0) by 1 wrap over <@mesh, ["x"=4]> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.tanh %[[R]] : tensor<2x2xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%a: tensor<2x4xf32>) {
    %1 = comm.shift(%a) by 1 wrap over <@mesh, ["x"=4]> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.tanh %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<2x4xf32>
    sdy.return %2 : tensor<2x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
