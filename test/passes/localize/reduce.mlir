// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// A reduction whose region is of no kind: each shard's rows are reduced, and what that makes, one row a device, once more. Rows that
// pad a shard are the start value. Wrong would be gathering the operand.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @argmax
// CHECK-SAME: %arg0: tensor<3x3xf32>
func.func public @argmax(%x: tensor<10x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                         %i: tensor<10x6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: %[[INF:.*]] = stablehlo.constant dense<0xFF800000>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[X:.*]] = stablehlo.select %{{.*}}, %arg0
  // CHECK: %[[I:.*]] = stablehlo.select %{{.*}}, %arg1
  // CHECK: %[[PART:.*]]:2 = stablehlo.reduce(%[[X]] init: %[[INF]]), (%[[I]] init: %{{.*}}) across dimensions = [0] : (tensor<3x3xf32>
  // CHECK: %[[ROW:.*]] = stablehlo.reshape %[[PART]]#0 : (tensor<3xf32>) -> tensor<1x3xf32>
  // CHECK: %[[XS:.*]] = comm.all_gather(%[[ROW]]) dim 0 over <@mesh, ["x"=4]>
  // CHECK: %[[IS:.*]] = comm.all_gather
  // CHECK: %[[ALL:.*]]:2 = stablehlo.reduce(%[[XS]] init: %{{.*}}), (%[[IS]] init: %{{.*}}) across dimensions = [0] : (tensor<4x3xf32>
  // CHECK: return %[[ALL]]#0, %[[ALL]]#1
  %0:2 = stablehlo.reduce(%x init: %lowest), (%i init: %zero) across dimensions = [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{"y"}]>]>}
      : (tensor<10x6xf32>, tensor<10x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<6xf32>, tensor<6xi32>
}
