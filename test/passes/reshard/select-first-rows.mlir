// RUN: tessera-opt %s --tessera-select-first-rows | FileCheck %s
// The first rows of a sort need the first rows of each shard only; otherwise the whole dimension would be gathered.

sdy.mesh @mesh = <["x"=4, "y"=2]>

// 1000 candidates become 4 x 5; the second sort has 20.
// CHECK-LABEL: @top_5
func.func @top_5(%x: tensor<1000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<5xf32> {
  // CHECK: %[[SHARDS:.*]] = stablehlo.reshape %arg0 {{.*}}[{"x"}, {}]>{{.*}} -> tensor<4x250xf32>
  // CHECK: %[[SORTED:.*]] = "stablehlo.sort"(%[[SHARDS]]) <{dimension = 1 : i64, is_stable = true}>
  // CHECK: %[[FIRST:.*]] = stablehlo.slice %[[SORTED]] [0:4, 0:5]
  // CHECK: %[[ALL:.*]] = sdy.reshard %[[FIRST]] <@mesh, [{}, {}]>
  // CHECK: %[[LINE:.*]] = stablehlo.reshape %[[ALL]] {{.*}} -> tensor<20xf32>
  // CHECK: %[[AGAIN:.*]] = "stablehlo.sort"(%[[LINE]]) <{dimension = 0 : i64, is_stable = true}>
  // CHECK: stablehlo.slice %[[AGAIN]] [0:5]
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %1 = stablehlo.slice %0 [0:5] : (tensor<1000xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// 998 rows on 8 shards: what pads the last one is marked, and sorted to the end both times.
// CHECK-LABEL: @uneven
func.func @uneven(%x: tensor<998xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<3xi32> {
  // CHECK: stablehlo.pad {{.*}} -> tensor<1000xi32>
  // CHECK: stablehlo.reshape {{.*}}[{"x", "y"}, {}]>{{.*}} -> tensor<8x125xi32>
  // CHECK: "stablehlo.sort"
  // CHECK: stablehlo.select
  // CHECK: (tensor<8x125xi32>, tensor<8x125xi1>)
  // CHECK: "stablehlo.sort"
  // CHECK: (tensor<24xi32>, tensor<24xi1>)
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<998xi32>) -> tensor<998xi32>
  %1 = stablehlo.slice %0 [0:3] : (tensor<998xi32>) -> tensor<3xi32>
  return %1 : tensor<3xi32>
}

// The last rows are no first ones, and as many as a shard has are no fewer.
// CHECK-LABEL: @others
// CHECK-NOT: reshape
func.func @others(%x: tensor<1000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<5xf32>, tensor<250xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %1 = stablehlo.slice %0 [995:1000] : (tensor<1000xf32>) -> tensor<5xf32>
  %2 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %3 = stablehlo.slice %2 [0:250] : (tensor<1000xf32>) -> tensor<250xf32>
  return %1, %3 : tensor<5xf32>, tensor<250xf32>
}
