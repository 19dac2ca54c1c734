// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// An uneven contracted dimension: both sides' padding becomes zeros by select, the result is a partial sum.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%a: tensor<4x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %b: tensor<10x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[A:.*]] = stablehlo.select %{{.*}}, %arg0, %{{.*}} : tensor<2x3xi1>, tensor<2x3xf32>
  // CHECK: %[[B:.*]] = stablehlo.select %{{.*}}, %arg1, %{{.*}} : tensor<3x6xi1>, tensor<3x6xf32>
  // CHECK: %[[D:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0] {{.*}} -> tensor<2x6xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}], unreduced={"x"}>]>} : (tensor<4x10xf32>, tensor<10x6xf32>) -> tensor<4x6xf32>
  // CHECK: comm.all_reduce sum(%[[D]]) over <@mesh, ["x"=4]>
  %1 = sdy.reshard %0 <@mesh, [{"y"}, {}]> : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
