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
// No axes are these: the devices are renumbered, alike for all that is on the mesh. A part of an axis that does not nest with another is
// one of as many others.
// CHECK: %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"y"}]>}, %arg2: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"y", "x"}]>}
sdy.mesh @a = <["x"=2, "y"=3]>
// expected-remark@+1 {{mesh @b cuts the devices as no axes of mesh @a do: its devices are renumbered, so that "p" is "y", "q" is "x"}}
sdy.mesh @b = <["p"=3, "q"=2]>
func.func @parts(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}]>},
                 %c: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"p", "q"}]>}) -> tensor<12xf32> {
  return %b : tensor<12xf32>
}

// -----
// CHECK: %arg0: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"y"}]>}
sdy.mesh @a = <["x"=2, "y"=3]>
sdy.mesh @b = <["z"=6]>
func.func @not_nested(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"z":(1)2}]>}, %b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"z":(1)3}]>},
                      %c: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}) -> tensor<12xf32> {
  return %b : tensor<12xf32>
}

// -----
// A manual computation on another mesh: its axes, those of its collectives, and its free ones.
// CHECK: sdy.mesh @a = <["x"=2, "y"=3, "z"=2]>
// CHECK: in_shardings=[<@a, [{"y", "z"}, {}], replicated={"x"}>] out_shardings=[<@a, [{"y"}, {}], unreduced={"x"}>] manual_axes={"x", "y"}
// CHECK: comm.all_reduce sum(%{{.*}}) over <@a, ["y"=3, "x"=2]>
// CHECK: sdy.sharding_constraint %{{.*}} <@a, [{"z"}, {}]>
sdy.mesh @a = <["x"=2, "y"=3, "z"=2]>
// expected-remark@+1 {{so that "p" is "y", "q" is "x", "r" is "z"}}
sdy.mesh @b = <["p"=3, "q"=2, "r"=2]>
func.func @manual(%a: tensor<12x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) -> tensor<12x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@b, [{"p", "r"}, {}], replicated={"q"}>] out_shardings=[<@b, [{"p"}, {}], unreduced={"q"}>] manual_axes={"p", "q"} (%b: tensor<4x4xf32>) {
    %1 = comm.all_reduce sum(%b) over <@b, ["p"=3, "q"=2]> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = sdy.sharding_constraint %1 <@b, [{"r"}, {}]> : tensor<4x4xf32>
    sdy.return %2 : tensor<4x4xf32>
  } : (tensor<12x4xf32>) -> tensor<12x4xf32>
  return %0 : tensor<12x4xf32>
}

// -----
// Manual in what is a part of an axis of the first mesh: that gets the part as an axis.
// CHECK: sdy.mesh @a = <["x"=2, "y_0"=2, "y_1"=2]>
// CHECK: %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y_0", "y_1"}]>}
// CHECK: in_shardings=[<@a, [{"x", "y_0"}, {}]>] out_shardings=[<@a, [{"x", "y_0"}, {}]>] manual_axes={"x", "y_0"}
// CHECK: comm.axis_index over <@a, ["x"=2, "y_0"=2]>
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2]>
func.func @refined(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@b, [{"p"}, {}]>] out_shardings=[<@b, [{"p"}, {}]>] manual_axes={"p"} (%b: tensor<2x4xf32>) {
    %1 = comm.axis_index over <@b, ["p"=4]> : tensor<i32>
    sdy.return %b : tensor<2x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----
// Inside of a manual computation, another mesh may cut across what is manual.
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2]>
func.func @across(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@a, [{"x"}, {}]>] out_shardings=[<@a, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x4xf32>) {
    %1 = sdy.sharding_constraint %b <@b, [{"q"}, {}]> : tensor<4x4xf32>
    // expected-error@+1 {{is sharded on another mesh than the manual computation around it, along what that is manual in: #sdy.sharding<@a, [{"x", "y":(1)2}, {}]>; use the axes of one mesh in it}}
    %2 = sdy.sharding_constraint %b <@b, [{"p"}, {}]> : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----
// Fewer devices than the first mesh has: the others repeat what is on it.
// CHECK: %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"y":(2)2}]>}
sdy.mesh @a = <["x"=3, "y"=4]>
sdy.mesh @b = <["z"=2]>
func.func @fewer(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}]>}) -> tensor<12xf32> {
  return %b : tensor<12xf32>
}

// -----
// 4 devices of 6: by one 2 of them only.
// CHECK: %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}
sdy.mesh @a = <["x"=2, "y"=3]>
// expected-warning@+1 {{the 4 devices of mesh @b do not divide the 6 of mesh @a: values on it are in fewer parts, so that "z" is "x"}}
sdy.mesh @b = <["z"=4]>
func.func @not_divided(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}]>}) -> tensor<12xf32> {
  return %b : tensor<12xf32>
}

// -----
sdy.mesh @a = <["x"=2, "y"=3]>
// expected-warning@+1 {{do not divide}}
sdy.mesh @b = <["z"=4]>
func.func @manual_in_what_is_lost(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}) -> tensor<12xf32> {
  // expected-error@+1 {{is manual in "z" of mesh @b, whose 4 devices do not divide the 6 of mesh @a; give the meshes numbers of devices that divide each other}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@b, [{"z"}]>] out_shardings=[<@b, [{"z"}]>] manual_axes={"z"} (%b: tensor<3xf32>) {
    sdy.return %b : tensor<3xf32>
  } : (tensor<12xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----
sdy.mesh @a = <["x"=2, "y"=3]>
// expected-error@+1 {{has 8 devices, but mesh @a has 6; the first mesh must have most}}
sdy.mesh @b = <["z"=8]>
func.func @more(%b: tensor<12xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}]>}) -> tensor<12xf32> {
  return %b : tensor<12xf32>
}
