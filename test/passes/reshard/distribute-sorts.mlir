// RUN: tessera-opt %s --tessera-distribute-sorts | FileCheck %s
// A long sort along a sharded dimension sends each element twice instead of everything to everybody.

module attributes {tessera.topology = #tessera.topology<alpha = 0.0, beta = 1.0e+06>} {
sdy.mesh @mesh = <["x"=3, "y"=2]>

// CHECK-LABEL: @long
func.func @long(%x: tensor<900xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<900xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: "stablehlo.sort"({{.*}}) <{dimension = 1 : i64, is_stable = true}>
  // CHECK: (tensor<3x300xf32>) -> tensor<3x300xf32>
  // Row q goes to shard q mod 3.
  // CHECK: %[[DEAL:.*]] = stablehlo.reshape {{.*}}[{"x"}, {}, {}]>{{.*}} -> tensor<3x100x3xf32>
  // CHECK: sdy.reshard %[[DEAL]] <@mesh, [{}, {}, {"x"}]>
  // CHECK: "stablehlo.sort"
  // CHECK: (tensor<3x300xf32>, tensor<3x300xi32>)
  // Parts go back, each in the order of numbers; the numbers stay, but for counts.
  // CHECK: "stablehlo.sort"
  // CHECK: (tensor<3x3x100xf32>, tensor<3x3x100xi32>)
  // CHECK: sdy.reshard {{.*}} <@mesh, [{}, {"x"}, {}]> : tensor<3x3x100xf32>
  // CHECK: sdy.reshard {{.*}} <@mesh, [{}, {"x"}, {}]> : tensor<3x3x3xi16>
  // CHECK: sdy.reshard {{.*}} <@mesh, [{}, {"x"}, {}]> : tensor<3x3x3xi16>
  // CHECK: "stablehlo.sort"
  // CHECK: (tensor<3x300xf32>, tensor<3x300xi32>)
  // Two rows of a neighbour with four on this side of a boundary.
  // CHECK: "stablehlo.sort"
  // CHECK: (tensor<3x6xf32>, tensor<3x6xi32>)
  // CHECK: "stablehlo.sort"
  // CHECK: (tensor<3x6xf32>, tensor<3x6xi32>)
  // CHECK: stablehlo.concatenate {{.*}}[{"x"}, {}]>{{.*}} -> tensor<3x300xf32>
  // CHECK-NOT: reshard
  // CHECK: return
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<900xf32>) -> tensor<900xf32>
  return %0 : tensor<900xf32>
}

// 898 rows on 6 shards have 150 each, the last one less, and room for 150: those that don't exist are marked.
// CHECK-LABEL: @uneven
func.func @uneven(%x: tensor<898xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>})
    -> (tensor<898xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  // CHECK: "stablehlo.sort"
  // CHECK: (tensor<6x150xf32>, tensor<6x150xi1>)
  // CHECK: stablehlo.slice {{.*}} [0:898]
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<898xf32>) -> tensor<898xf32>
  return %0 : tensor<898xf32>
}

// Two shards send as much by gathering; few rows, most of them about boundaries; lines that other axes can share move whole.
// CHECK-LABEL: @gathered
// CHECK-NOT: reshape
func.func @gathered(%x: tensor<900xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},
                    %z: tensor<36xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                    %w: tensor<900x300xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<900xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<36xf32>,
        tensor<900x300xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<900xf32>) -> tensor<900xf32>
  %1 = "stablehlo.sort"(%z) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<36xf32>) -> tensor<36xf32>
  %2 = "stablehlo.sort"(%w) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<900x300xf32>) -> tensor<900x300xf32>
  return %0, %1, %2 : tensor<900xf32>, tensor<36xf32>, tensor<900x300xf32>
}
}
