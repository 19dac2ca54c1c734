// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// An image split in rows: a halo of one row from each side, zeros outside of the image, no padding left to do.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<1x8x6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}, {}]>}, %k: tensor<3x3x3x5xf32>) -> (tensor<1x8x6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}, {}]>}) {
  // CHECK-DAG: comm.shift(%{{.*}}) by 1 over <@mesh, ["y"=2]> : (tensor<1x1x6x3xf32>) -> tensor<1x1x6x3xf32>
  // CHECK-DAG: comm.shift(%{{.*}}) by -1 over <@mesh, ["y"=2]> : (tensor<1x1x6x3xf32>) -> tensor<1x1x6x3xf32>
  // CHECK: %[[M:.*]] = stablehlo.select %{{.*}} : tensor<1x6x6x3xi1>, tensor<1x6x6x3xf32>
  // CHECK: stablehlo.convolution(%[[M]], %arg1) {{.*}}pad = {{\[}}[0, 0], [1, 1]]{{.*}} -> tensor<1x4x6x5xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}, {}, {}]>]>} : (tensor<1x8x6x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x8x6x5xf32>
  return %0 : tensor<1x8x6x5xf32>
}
