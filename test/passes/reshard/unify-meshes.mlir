// Shardings on several meshes over the same devices are written with the axes of the first: cut otherwise, named otherwise, in another
// order of devices. Wrong would be: an axis taken for the one of the same name on another mesh.
// RUN: tessera-opt %s --tessera-unify-meshes --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: sdy.mesh @a = <["x"=2, "y"=4]>
// CHECK-NOT: sdy.mesh @b
// CHECK: %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x", "y":(1)2}, {"y":(2)2}]>}
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2]>
func.func @cut(%b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {"q"}]>}) -> tensor<16x8xf32> {
  return %b : tensor<16x8xf32>
}

// -----
// CHECK: %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"y":(2)2}, {"x", "y":(1)2}]>}
// CHECK: unreduced={"y":(2)2}
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["y"=4, "x"=2]>
func.func @names(%b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.tanh %b {sdy.sharding = #sdy.sharding_per_value<[<@b, [{"y"}, {}], unreduced={"x"}>]>} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----
// Along p are the devices 0, 4, 1, 5.
// CHECK: %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"y":(2)2, "x"}, {"y":(1)2}]>}
// CHECK: <@a, [{"x"}, {}]>
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>
func.func @order(%b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {"q"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.tanh %b {sdy.sharding = #sdy.sharding_per_value<[<@b, [{"p":(2)2}, {}]>]>} : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----
sdy.mesh @a = <["x"=2, "y"=3]>
// expected-error@+1 {{the axes of mesh @b are no parts of the axes of mesh @a: use the axes of one mesh throughout}}
sdy.mesh @b = <["p"=3, "q"=2]>
func.func @parts(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}]>}) -> tensor<12xf32> {
  return %b : tensor<12xf32>
}
