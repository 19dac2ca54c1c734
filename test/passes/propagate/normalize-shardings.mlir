// Annotations that say the same are written the same. Wrong would be: two meshes that don't propagate to each other, or
// an axis of size 1 that counts as a conflict.
// RUN: tessera-opt %s --tessera-normalize-shardings --split-input-file | FileCheck %s

// CHECK: sdy.mesh @mesh = <["x"=2, "one"=1, "y"=2]>
// CHECK-NEXT: func.func
sdy.mesh @mesh = <["x"=2, "one"=1, "y"=2]>
sdy.mesh @same = <["x"=2, "one"=1, "y"=2]>

// CHECK-SAME: %[[A:.*]]: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}
// CHECK-SAME: %{{.*}}: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@same, [{"one", "x"}, {?}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "one"=1, "y"=2]>, [{"one"}, {"y"}]>}) -> tensor<8x8xf32> {
  // The manual axis that a sharding doesn't mention becomes replicated.
  // CHECK: sdy.manual_computation(%[[A]]) in_shardings=[<@mesh, [{}, {?}], replicated={"x"}>] out_shardings=[<@mesh, [{}, {}], replicated={"x"}>] manual_axes={"x"}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"one"}, {?}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"one", "x"} (%c: tensor<8x8xf32>) {
    sdy.return %c : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// The largest mesh that something is on says how many devices there are.
// CHECK: sdy.mesh @large
// CHECK-NEXT: sdy.mesh @small
sdy.mesh @small = <["x"=2]>
sdy.mesh @unused = <["x"=16]>
sdy.mesh @large = <["x"=2, "y"=4]>
func.func @sizes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@small, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@large, [{"y"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
