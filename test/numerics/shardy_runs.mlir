// What the sdy language can say, run: shardy_runs.py compares with the reference interpreter on the program without annotations.
// Two meshes over the same devices, cut otherwise and in another order.
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2], device_ids=[0,2,4,6,1,3,5,7]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {"q"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// -----
// A mesh without axes, and a value that is to be on one device.
sdy.mesh @empty = <[]>
sdy.mesh @max = <[], device_ids=[3]>
sdy.mesh @a = <["x"=8]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@empty, [{}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<16x8xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@max, []>]>} : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
// -----
// Two meshes that use the same names for other axes.
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["y"=4, "x"=2]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@b, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<16x8xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x16xf32>
  %2 = stablehlo.slice %1 [0:16, 0:8] : (tensor<16x16xf32>) -> tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}
// -----
// Sub-axes in two dimensions, and replicated ones.
sdy.mesh @m = <["x"=8]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(2)2}, {"x":(4)2}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)2}, {}], replicated={"x":(2)2}>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)4}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// -----
// A partial value, and every collective on global values.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@m, [{"x"}, {}]> : tensor<16x8xf32>
  %2 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@m, [{}, {}]> : tensor<16x8xf32>
  %3 = sdy.all_slice [{}, {"y"}] %2 out_sharding=<@m, [{}, {"y"}]> : tensor<16x8xf32>
  %4 = sdy.all_to_all [{"y"}: 1->0] %3 out_sharding=<@m, [{"y"}, {}]> : tensor<16x8xf32>
  return %4 : tensor<16x8xf32>
}
// -----
// A named computation with shardings of its own, a reshard, a permutation of devices, a barrier.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@m, [{"y"}, {}]>] out_shardings=[<@m, [{}, {"x"}]>] (%b: tensor<16x8xf32>) {
    %1 = stablehlo.tanh %b : tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = sdy.reshard %0 <@m, [{"x", "y"}, {}]> : tensor<16x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@m, [{"y", "x"}, {}]> : tensor<16x8xf32>
  %4 = sdy.propagation_barrier %3 allowed_direction=NONE : tensor<16x8xf32>
  return %4 : tensor<16x8xf32>
}
// -----
// Sharding strings: transposed tiles, listed devices, subgroups; a constraint.
module attributes {mhlo.num_partitions = 8 : i32} {
func.func public @main(%a: tensor<16x8xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"}, %b: tensor<16x8xf32> {mhlo.sharding = "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"}) -> (tensor<16x16xf32> {mhlo.sharding = "{devices=[2,2,2]<=[8] last_tile_dims={replicated}}"}) {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[1,8]<=[8]}"} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}
}
// -----
// Sizes that no axis divides; a group of one; a reshape that merges.
sdy.mesh @m = <["x"=3, "y"=2]>
func.func public @main(%a: tensor<7x10xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %w: tensor<10x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {"x"}]>}) -> (tensor<35xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y"}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<7x10xf32>, tensor<10x5xf32>) -> tensor<7x5xf32>
  sdy.sharding_group %0 group_id=4 : tensor<7x5xf32>
  %1 = stablehlo.reshape %0 : (tensor<7x5xf32>) -> tensor<35xf32>
  return %1 : tensor<35xf32>
}
// -----
// Manual computations, one in the other, the inner one's axis free in the outer.
sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {"z", ?}]>}) -> tensor<8x8xf32> {
  %1 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x", ?}, {?}]>] out_shardings=[<@m, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %2 = sdy.manual_computation(%b) in_shardings=[<@m, [{"y", ?}, {?}]>] out_shardings=[<@m, [{"y", ?}, {?}]>] manual_axes={"y"} (%c: tensor<2x8xf32>) {
      %3 = stablehlo.negate %c : tensor<2x8xf32>
      sdy.return %3 : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.tanh %2 : tensor<4x8xf32>
    sdy.return %4 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// plain:
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// -----
// Boundary calls around a manual region, as strings say it.
module attributes {mhlo.num_partitions = 4 : i32} {
func.func public @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) -> tensor<8x4xf32> {
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.tanh %1 : tensor<2x4xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
}
// plain:
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %1 = stablehlo.tanh %a : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// -----
// A gradient accumulated in a loop, reduced once after it.
sdy.mesh @m = <["x"=4]>
func.func public @main(%a: tensor<1024x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %b: tensor<1024x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<8x6xf32>
  %0:2 = stablehlo.while(%i = %c0, %s = %z) : tensor<i32>, tensor<8x6xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %g = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<1024x8xf32>, tensor<1024x6xf32>) -> tensor<8x6xf32>
      %t = stablehlo.add %s, %g : tensor<8x6xf32>
      %k = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %k, %t : tensor<i32>, tensor<8x6xf32>
    }
  return %0#1 : tensor<8x6xf32>
}
// collectives: all-reduce x1
// -----
// Where the consumer is sharded along what is reduced, a reduce-scatter.
sdy.mesh @m = <["x"=4]>
func.func public @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}
// collectives: reduce-scatter x1
// -----
// Meshes of which none has the axes of the other, both at arguments, constraints and the result.
sdy.mesh @a = <["x"=2, "y"=3]>
sdy.mesh @b = <["p"=3, "q"=2]>
func.func public @main(%a: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}, %b: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {"q"}]>}) -> (tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {}]>}) {
  %0 = stablehlo.add %a, %b : tensor<6x12xf32>
  %1 = sdy.sharding_constraint %0 <@b, [{"q"}, {"p"}]> : tensor<6x12xf32>
  %2 = stablehlo.tanh %1 : tensor<6x12xf32>
  return %2 : tensor<6x12xf32>
}
// -----
// Meshes in orders of devices that no axes give.
sdy.mesh @b = <["z"=4]>
sdy.mesh @a = <["x"=4], device_ids=[3,1,2,0]>
func.func public @main(%a: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}, %b: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}, {}]>}) -> tensor<6x12xf32> {
  %0 = stablehlo.add %a, %b : tensor<6x12xf32>
  return %0 : tensor<6x12xf32>
}
// -----
// A manual computation on a mesh that cuts the devices otherwise.
sdy.mesh @a = <["x"=2, "y"=3]>
sdy.mesh @b = <["p"=3, "q"=2]>
func.func public @main(%a: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<6x12xf32> {
  %0 = stablehlo.tanh %a : tensor<6x12xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@b, [{"p"}, {}]>] out_shardings=[<@b, [{"p"}, {}]>] manual_axes={"p"} (%l: tensor<2x12xf32>) {
    %2 = stablehlo.add %l, %l : tensor<2x12xf32>
    sdy.return %2 : tensor<2x12xf32>
  } : (tensor<6x12xf32>) -> tensor<6x12xf32>
  return %1 : tensor<6x12xf32>
}
// plain:
func.func public @main(%a: tensor<6x12xf32>) -> tensor<6x12xf32> {
  %0 = stablehlo.tanh %a : tensor<6x12xf32>
  %1 = stablehlo.add %0, %0 : tensor<6x12xf32>
  return %1 : tensor<6x12xf32>
}
// -----
// A manual computation, with a collective, on a mesh whose axis is axes and parts of the first's.
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["p"=4, "q"=2]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<8x12xf32> {
  %0 = stablehlo.tanh %a : tensor<8x12xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@b, [{"p"}, {}]>] out_shardings=[<@b, [{"p"}, {}]>] manual_axes={"p"} (%l: tensor<2x12xf32>) {
    %2 = stablehlo.add %l, %l : tensor<2x12xf32>
    %3 = "stablehlo.all_reduce"(%2) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0,2,4,6],[1,3,5,7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<2x12xf32>) -> tensor<2x12xf32>
    sdy.return %3 : tensor<2x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = stablehlo.tanh %a : tensor<8x12xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x12xf32>
  %2 = stablehlo.reshape %1 : (tensor<8x12xf32>) -> tensor<4x2x12xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4x2x12xf32>, tensor<f32>) -> tensor<2x12xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1, 2] : (tensor<2x12xf32>) -> tensor<4x2x12xf32>
  %5 = stablehlo.reshape %4 : (tensor<4x2x12xf32>) -> tensor<8x12xf32>
  return %5 : tensor<8x12xf32>
}
// -----
// An argument that is said to be unreduced is passed whole.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x12xf32> {
  %0 = stablehlo.tanh %a : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// -----
// Sharding strings that leave a sum unreduced.
module attributes {mhlo.num_partitions = 8 : i32} {
func.func public @main(%a: tensor<8x12xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %w: tensor<12x4xf32>) -> (tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dims={unreduced}}"} : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}
// -----
// Unreduced beside replicated.
module attributes {mhlo.num_partitions = 8 : i32} {
func.func public @main(%a: tensor<8x12xf32> {mhlo.sharding = "{devices=[2,2,2]<=[8] last_tile_dims={replicated}}"}, %w: tensor<12x4xf32>) -> (tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate metadata={op_name=\"hello\"}}"}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {mhlo.sharding = "{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}"} : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}
// -----
// Unreduced over all devices.
module attributes {mhlo.num_partitions = 8 : i32} {
func.func public @main(%a: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,8]<=[8]}"}, %w: tensor<16x4xf32>) -> (tensor<8x4xf32> {mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {mhlo.sharding = "{unreduced}"} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}
// -----
// Strings that put values into groups.
module attributes {mhlo.num_partitions = 8 : i32} {
func.func public @main(%a: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,8]<=[8]}"}, %b: tensor<8x16xf32>) -> (tensor<8x16xf32>) {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{unknown shard_as 0}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @Sharding(%b) {mhlo.sharding = "{unknown shard_as 0}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x16xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{devices=[8,1]<=[8] shard_like 1}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}
}
// -----
// Strings that no one mesh has the axes for.
module attributes {mhlo.num_partitions = 6 : i32} {
func.func public @main(%a: tensor<6x12xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %b: tensor<6x12xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) -> (tensor<6x12xf32>) {
  %2 = stablehlo.add %a, %b : tensor<6x12xf32>
  return %2 : tensor<6x12xf32>
}
}
// -----
// Strings with devices in no order.
module attributes {mhlo.num_partitions = 4 : i32} {
func.func public @main(%a: tensor<6x12xf32> {mhlo.sharding = "{devices=[4,1]0,2,3,1}"}, %b: tensor<6x12xf32> {mhlo.sharding = "{devices=[4,1]3,2,1,0}"}) -> (tensor<6x12xf32>) {
  %2 = stablehlo.add %a, %b : tensor<6x12xf32>
  return %2 : tensor<6x12xf32>
}
}
// -----
// Strings of nested tuples, and of one device.
module attributes {mhlo.num_partitions = 4 : i32} {
func.func public @main(%a: tensor<6x12xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}, %b: tensor<6x12xf32> {mhlo.sharding = "{maximal device=2}"}) -> (tensor<6x12xf32>) {
  %0 = stablehlo.tuple %a, %b {mhlo.sharding = "{{devices=[4,1]<=[4]}, {replicated}}"} : tuple<tensor<6x12xf32>, tensor<6x12xf32>>
  %t = stablehlo.tuple %0, %b {mhlo.sharding = "{{devices=[4,1]<=[4]}, {replicated}, {maximal device=1}}"} : tuple<tuple<tensor<6x12xf32>, tensor<6x12xf32>>, tensor<6x12xf32>>
  %u = stablehlo.get_tuple_element %t[0] {mhlo.sharding = "{{devices=[4,1]<=[4]}, {replicated}}"} : (tuple<tuple<tensor<6x12xf32>, tensor<6x12xf32>>, tensor<6x12xf32>>) -> tuple<tensor<6x12xf32>, tensor<6x12xf32>>
  %1 = stablehlo.get_tuple_element %u[0] : (tuple<tensor<6x12xf32>, tensor<6x12xf32>>) -> tensor<6x12xf32>
  %2 = stablehlo.add %1, %b : tensor<6x12xf32>
  return %2 : tensor<6x12xf32>
}
}
// plain:
func.func public @main(%a: tensor<6x12xf32>, %b: tensor<6x12xf32>) -> tensor<6x12xf32> {
  %0 = stablehlo.add %a, %b : tensor<6x12xf32>
  return %0 : tensor<6x12xf32>
}
// -----
// Boundary calls with a free axis.
module attributes {mhlo.num_partitions = 8 : i32} {
func.func public @main(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"}) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.tanh %1 : tensor<2x4xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
}
// plain:
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %1 = stablehlo.tanh %a : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
// -----
// Free axes of a manual computation in parts.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x","y":(1)2}, {"y":(2)2}]>}) -> tensor<8x12xf32> {
  %1 = sdy.manual_computation(%a) in_shardings=[<@a, [{"x", "y":(1)2}, {"y":(2)2, ?}]>] out_shardings=[<@a, [{"x", ?}, {?}]>] manual_axes={"x"} (%l: tensor<4x12xf32>) {
    %2 = stablehlo.tanh %l : tensor<4x12xf32>
    %c = sdy.sharding_constraint %2 <@a, [{"y":(2)2}, {"y":(1)2}]> : tensor<4x12xf32>
    sdy.return %c : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %1 = stablehlo.tanh %a : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// -----
// Parts of an axis that don't nest.
sdy.mesh @m = <["x"=6, "y"=2]>
func.func public @main(%a: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)2}, {"y"}]>}, %b: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)3}, {"x":(3)2}]>}) -> (tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)3}, {}]>}) {
  %0 = stablehlo.add %a, %b : tensor<12x12xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{"x":(2)3}, {"x":(1)2}]> : tensor<12x12xf32>
  %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  return %2 : tensor<12x12xf32>
}
// -----
// The same where one of the parts is in use.
sdy.mesh @m = <["x"=6]>
func.func public @main(%a: tensor<12x12xf32>, %b: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) -> tensor<12x12xf32> {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x":(3)2}, {"x":(1)3}]>]>} : tensor<12x12xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{}, {"x":(1)2}]> : tensor<12x12xf32>
  %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x":(3)2}, {"x":(1)3}]>]>} : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  return %2 : tensor<12x12xf32>
}
// -----
// An elementwise operation whose result is said to be unreduced.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@a, [{"x"}, {}], unreduced={"y"}>]>} : tensor<8x12xf32>
  %1 = stablehlo.tanh %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// -----
// A result of the program that is said to be unreduced.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}, %w: tensor<12x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// -----
// A constraint that leaves a sum unreduced, with a linear use and one that is not.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}, %w: tensor<12x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@a, [{"x"}, {}], unreduced={"y"}> : tensor<8x4xf32>
  %2 = stablehlo.add %1, %1 : tensor<8x4xf32>
  %3 = sdy.sharding_constraint %2 <@a, [{"x"}, {}]> : tensor<8x4xf32>
  %4 = stablehlo.multiply %1, %1 : tensor<8x4xf32>
  %5 = stablehlo.add %3, %4 : tensor<8x4xf32>
  return %5 : tensor<8x4xf32>
}
// -----
// A constraint that makes a whole value unreduced.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) {
  %0 = stablehlo.tanh %a : tensor<8x12xf32>
  %1 = sdy.sharding_constraint %0 <@a, [{"x"}, {}], unreduced={"y"}> : tensor<8x12xf32>
  %4 = stablehlo.multiply %1, %1 : tensor<8x12xf32>
  return %4 : tensor<8x12xf32>
}
// -----
// A manual computation whose operand and result are unreduced over a free axis.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}, %w: tensor<12x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@a, [{"x"}, {}], unreduced={"y"}>] out_shardings=[<@a, [{"x"}, {}], unreduced={"y"}>] manual_axes={"x"} (%l: tensor<4x4xf32>) {
    %2 = stablehlo.add %l, %l : tensor<4x4xf32>
    %3 = stablehlo.tanh %2 : tensor<4x4xf32>
    sdy.return %3 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.tanh %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>, %w: tensor<12x4xf32>) -> (tensor<8x4xf32>) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.add %0, %0 : tensor<8x4xf32>
  %2 = stablehlo.tanh %1 : tensor<8x4xf32>
  %3 = stablehlo.tanh %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
// -----
// A manual computation that returns summands, in a manual axis.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> (tensor<4x12xf32>) {
  %1 = sdy.manual_computation(%a) in_shardings=[<@a, [{"x"}, {}]>] out_shardings=[<@a, [{}, {}], unreduced={"x"}>] manual_axes={"x"} (%l: tensor<4x12xf32>) {
    %2 = stablehlo.add %l, %l : tensor<4x12xf32>
    sdy.return %2 : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<4x12xf32>
  %2 = stablehlo.tanh %1 : tensor<4x12xf32>
  return %2 : tensor<4x12xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> (tensor<4x12xf32>) {
  %0 = stablehlo.slice %a [0:4, 0:12] : (tensor<8x12xf32>) -> tensor<4x12xf32>
  %1 = stablehlo.slice %a [4:8, 0:12] : (tensor<8x12xf32>) -> tensor<4x12xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x12xf32>
  %3 = stablehlo.add %2, %2 : tensor<4x12xf32>
  %4 = stablehlo.tanh %3 : tensor<4x12xf32>
  return %4 : tensor<4x12xf32>
}
// -----
// A manual computation that takes summands, in a manual axis.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{}, {"x"}]>}, %w: tensor<12x4xf32>) -> (tensor<8x4xf32>) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@a, [{}, {}], unreduced={"x"}>] out_shardings=[<@a, [{}, {}]>] manual_axes={"x"} (%l: tensor<8x4xf32>) {
    %3 = "stablehlo.all_reduce"(%l) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0,4],[1,5],[2,6],[3,7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    sdy.return %3 : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.tanh %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>, %w: tensor<12x4xf32>) -> (tensor<8x4xf32>) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// -----
// The same of a value that is whole outside.
sdy.mesh @a = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{}, {"x"}]>}) -> (tensor<8x12xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x12xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@a, [{}, {}], unreduced={"x"}>] out_shardings=[<@a, [{}, {}]>] manual_axes={"x"} (%l: tensor<8x12xf32>) {
    %3 = "stablehlo.all_reduce"(%l) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0,4],[1,5],[2,6],[3,7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<8x12xf32>) -> tensor<8x12xf32>
    sdy.return %3 : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> (tensor<8x12xf32>) {
  %2 = stablehlo.tanh %a : tensor<8x12xf32>
  return %2 : tensor<8x12xf32>
}
// -----
// Manual in an axis of which a part shards.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y":(1)2}, {}]>] out_shardings=[<@m, [{"y":(1)2}, {}]>] manual_axes={"y"} (%l: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %l : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// plain:
func.func public @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>) {
  %2 = stablehlo.tanh %a : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// -----
// A free axis that does not divide what the manual one leaves.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @main(%a: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x", "y"}, {}]>] out_shardings=[<@m, [{"x", "y"}, {}]>] manual_axes={"x"} (%l: tensor<3x8xf32>) {
    %1 = stablehlo.tanh %l : tensor<3x8xf32>
    sdy.return %1 : tensor<3x8xf32>
  } : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
// plain:
func.func public @main(%a: tensor<6x8xf32>) -> (tensor<6x8xf32>) {
  %2 = stablehlo.tanh %a : tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}
// -----
// One mesh in an odd order of devices, and a collective by device numbers.
sdy.mesh @m = <["x"=2, "y"=2], device_ids=[3,0,2,1]>
func.func @main(%a: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%l: tensor<3x4xf32>) {
    %3 = "stablehlo.all_reduce"(%l) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[3,2],[0,1]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    sdy.return %3 : tensor<3x4xf32>
  } : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
// plain:
func.func public @main(%a: tensor<6x8xf32>) -> (tensor<6x8xf32>) {
  %0 = stablehlo.slice %a [0:3, 0:8] : (tensor<6x8xf32>) -> tensor<3x8xf32>
  %1 = stablehlo.slice %a [3:6, 0:8] : (tensor<6x8xf32>) -> tensor<3x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x8xf32>
  %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}
// -----
// Summands made of a whole value and of a sharded one.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32>) {
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@m, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@m, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.sharded_to_unreduced [{"x"}, {}] %1 out_sharding=<@m, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  %3 = stablehlo.negate %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
// plain:
func.func public @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>) {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// -----
// Dimensions of size 0, sharded.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, tensor<4x8xf32>) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<0x8xf32>
  %1 = stablehlo.concatenate %0, %b, dim = 0 : (tensor<0x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [1] : (tensor<0x8xf32>, tensor<4x8xf32>) -> tensor<0x4xf32>
  %3 = sdy.sharding_constraint %2 <@m, [{"y"}, {"x"}]> : tensor<0x4xf32>
  %4 = stablehlo.dot_general %3, %1, contracting_dims = [1] x [0] : (tensor<0x4xf32>, tensor<4x8xf32>) -> tensor<0x8xf32>
  return %4, %1 : tensor<0x8xf32>, tensor<4x8xf32>
}
// -----
// A manual computation in another, on a mesh that cuts the free axes.
sdy.mesh @a = <["x"=2, "y"=4]>
sdy.mesh @b = <["x"=2, "p"=2, "q"=2]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<8x12xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@a, [{"x", ?}, {?}]>] out_shardings=[<@a, [{"x", ?}, {?}]>] manual_axes={"x"} (%l: tensor<4x12xf32>) {
    %1 = sdy.manual_computation(%l) in_shardings=[<@b, [{"q"}, {"p", ?}]>] out_shardings=[<@b, [{"q"}, {"p"}]>] manual_axes={"q"} (%k: tensor<2x12xf32>) {
      %2 = stablehlo.tanh %k : tensor<2x12xf32>
      sdy.return %2 : tensor<2x12xf32>
    } : (tensor<4x12xf32>) -> tensor<4x12xf32>
    sdy.return %1 : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %1 = stablehlo.tanh %a : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// -----
// A manual computation in another, both on a mesh that cuts the devices otherwise than the first.
sdy.mesh @a = <["x"=2, "y"=3, "z"=2]>
sdy.mesh @b = <["u"=3, "v"=4]>
func.func public @main(%a: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<12x12xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@b, [{?}, {"u", ?}]>] out_shardings=[<@b, [{?}, {"u", ?}]>] manual_axes={"u"} (%l: tensor<12x4xf32>) {
    %1 = sdy.manual_computation(%l) in_shardings=[<@b, [{"v"}, {}]>] out_shardings=[<@b, [{"v"}, {}]>] manual_axes={"v"} (%k: tensor<3x4xf32>) {
      %2 = stablehlo.tanh %k : tensor<3x4xf32>
      sdy.return %2 : tensor<3x4xf32>
    } : (tensor<12x4xf32>) -> tensor<12x4xf32>
    sdy.return %1 : tensor<12x4xf32>
  } : (tensor<12x12xf32>) -> tensor<12x12xf32>
  %1 = stablehlo.add %0, %a {sdy.sharding = #sdy.sharding_per_value<[<@a, [{"z", "y"}, {}]>]>} : tensor<12x12xf32>
  return %1 : tensor<12x12xf32>
}
// plain:
func.func public @main(%a: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %1 = stablehlo.tanh %a : tensor<12x12xf32>
  %2 = stablehlo.add %1, %a : tensor<12x12xf32>
  return %2 : tensor<12x12xf32>
}
// -----
// Collectives and the device number in one on such a mesh, along all its axes.
sdy.mesh @a = <["x"=2, "y"=3]>
sdy.mesh @b = <["p"=3, "q"=2]>
func.func public @main(%a: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<6x2xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@b, [{}, {"q", "p"}]>] out_shardings=[<@b, [{"p", "q"}, {}]>] manual_axes={"p", "q"} (%l: tensor<6x2xf32>) {
    %3 = "stablehlo.reduce_scatter"(%l) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0,1,2,3,4,5]]> : tensor<1x6xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<6x2xf32>) -> tensor<1x2xf32>
    %p = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1x2xf32>
    %r = stablehlo.add %3, %b : tensor<1x2xf32>
    sdy.return %r : tensor<1x2xf32>
  } : (tensor<6x12xf32>) -> tensor<6x2xf32>
  return %0 : tensor<6x2xf32>
}
// plain:
func.func public @main(%a: tensor<6x12xf32>) -> tensor<6x2xf32> {
  %0 = stablehlo.reshape %a : (tensor<6x12xf32>) -> tensor<6x6x2xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<6x6x2xf32>, tensor<f32>) -> tensor<6x2xf32>
  %i = stablehlo.iota dim = 0 : tensor<6x2xf32>
  %2 = stablehlo.add %1, %i : tensor<6x2xf32>
  return %2 : tensor<6x2xf32>
}
// -----
// Permutations by device numbers there, and a gather.
sdy.mesh @a = <["x"=2, "y"=3]>
sdy.mesh @b = <["p"=3, "q"=2]>
func.func public @main(%a: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {"y"}]>}) -> tensor<6x12xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@b, [{"p", "q"}, {}]>] out_shardings=[<@b, [{"p", "q"}, {}]>] manual_axes={"p", "q"} (%l: tensor<1x12xf32>) {
    %3 = "stablehlo.collective_permute"(%l) {source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,4],[4,5],[5,0]]> : tensor<6x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<1x12xf32>) -> tensor<1x12xf32>
    %4 = "stablehlo.collective_permute"(%3) {source_target_pairs = dense<[[0,4],[4,3],[3,5],[5,0],[1,2],[2,1]]> : tensor<6x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<1x12xf32>) -> tensor<1x12xf32>
    %5 = "stablehlo.all_gather"(%4) {all_gather_dim = 0 : i64, replica_groups = dense<[[0,2,4],[1,3,5]]> : tensor<2x3xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<1x12xf32>) -> tensor<3x12xf32>
    %6 = stablehlo.slice %5 [1:2, 0:12] : (tensor<3x12xf32>) -> tensor<1x12xf32>
    %7 = stablehlo.add %6, %4 : tensor<1x12xf32>
    sdy.return %7 : tensor<1x12xf32>
  } : (tensor<6x12xf32>) -> tensor<6x12xf32>
  return %0 : tensor<6x12xf32>
}
// plain:
func.func public @main(%a: tensor<6x12xf32>) -> tensor<6x12xf32> {
  %r0 = stablehlo.slice %a [0:1, 0:12] : (tensor<6x12xf32>) -> tensor<1x12xf32>
  %r1 = stablehlo.slice %a [1:2, 0:12] : (tensor<6x12xf32>) -> tensor<1x12xf32>
  %r2 = stablehlo.slice %a [2:3, 0:12] : (tensor<6x12xf32>) -> tensor<1x12xf32>
  %r3 = stablehlo.slice %a [3:4, 0:12] : (tensor<6x12xf32>) -> tensor<1x12xf32>
  %r4 = stablehlo.slice %a [4:5, 0:12] : (tensor<6x12xf32>) -> tensor<1x12xf32>
  %r5 = stablehlo.slice %a [5:6, 0:12] : (tensor<6x12xf32>) -> tensor<1x12xf32>
  %s = stablehlo.concatenate %r4, %r1, %r0, %r3, %r5, %r2, dim = 0 : (tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<6x12xf32>
  %t = stablehlo.concatenate %r0, %r3, %r0, %r3, %r0, %r3, dim = 0 : (tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<6x12xf32>
  %u = stablehlo.add %s, %t : tensor<6x12xf32>
  return %u : tensor<6x12xf32>
}
// -----
// Boundary calls of a region whose operand on all devices was counted to another mesh.
module attributes {mhlo.num_partitions = 6 : i32} {
func.func public @main(%a: tensor<6x12xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %w: tensor<2x12xf32>) -> tensor<6x12xf32> {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[3,1,2]<=[6] last_tile_dim_replicate}"} : (tensor<6x12xf32>) -> tensor<6x12xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%w) {mhlo.sharding = "{manual}"} : (tensor<2x12xf32>) -> tensor<2x12xf32>
  %2 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<6x12xf32>) -> tensor<2x12xf32>
  %3 = stablehlo.add %1, %2 : tensor<2x12xf32>
  %4 = "stablehlo.collective_permute"(%3) {source_target_pairs = dense<[[0, 2], [1, 3], [2, 4], [3, 5], [4, 0], [5, 1]]> : tensor<6x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<2x12xf32>) -> tensor<2x12xf32>
  %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[3,1,2]<=[6] last_tile_dim_replicate}"} : (tensor<2x12xf32>) -> tensor<6x12xf32>
  return %5 : tensor<6x12xf32>
}
}
// plain:
func.func public @main(%a: tensor<6x12xf32>, %w: tensor<2x12xf32>) -> tensor<6x12xf32> {
  %0 = stablehlo.concatenate %w, %w, %w, dim = 0 : (tensor<2x12xf32>, tensor<2x12xf32>, tensor<2x12xf32>) -> tensor<6x12xf32>
  %1 = stablehlo.add %0, %a : tensor<6x12xf32>
  %2 = stablehlo.slice %1 [4:6, 0:12] : (tensor<6x12xf32>) -> tensor<2x12xf32>
  %3 = stablehlo.slice %1 [0:4, 0:12] : (tensor<6x12xf32>) -> tensor<4x12xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<2x12xf32>, tensor<4x12xf32>) -> tensor<6x12xf32>
  return %4 : tensor<6x12xf32>
}
// -----
// Edges of data flow, a constant of sdy, a function whose boundary is unreduced.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %c = sdy.constant dense<1.0> : tensor<8x8xf32>
  %0 = sdy.data_flow_edge %a sharding=<@m, [{"y"}, {}]> : tensor<8x8xf32>
  %1 = call @f(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.func_data_flow_edge %1 : tensor<8x8xf32>
  %3 = stablehlo.add %2, %c : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
func.func private @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}], unreduced={"y"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// plain:
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %1 = stablehlo.negate %a : tensor<8x8xf32>
  %c = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %3 = stablehlo.add %1, %c : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
// -----
// A loop over two meshes.
sdy.mesh @m = <["x"=2, "y"=3]>
sdy.mesh @n = <["p"=3, "q"=2]>
func.func public @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<6x8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %s = %a) : tensor<i32>, tensor<6x8xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %g = sdy.sharding_constraint %s <@n, [{"p"}, {"q"}]> : tensor<6x8xf32>
      %u = sdy.sharding_constraint %g <@m, [{"x"}, {}], unreduced={"y"}> : tensor<6x8xf32>
      %t = stablehlo.add %u, %u : tensor<6x8xf32>
      %k = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %k, %t : tensor<i32>, tensor<6x8xf32>
    }
  return %0#1 : tensor<6x8xf32>
}
// -----
// A named computation on two meshes, its result unreduced.
sdy.mesh @m = <["x"=2, "y"=3]>
sdy.mesh @n = <["p"=3, "q"=2]>
func.func public @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<6x8xf32> {
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@n, [{"p"}, {}]>] out_shardings=[<@m, [{}, {"x"}], unreduced={"y"}>] (%b: tensor<6x8xf32>) {
    %1 = stablehlo.tanh %b : tensor<6x8xf32>
    sdy.return %1 : tensor<6x8xf32>
  } : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %2 = stablehlo.tanh %0 : tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}
// -----
// Branches with values of two meshes, their result unreduced.
sdy.mesh @m = <["x"=2, "y"=3]>
sdy.mesh @n = <["p"=3, "q"=2]>
func.func public @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %b: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"p"}, {"q"}]>}) -> tensor<6x8xf32> {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<6x8xf32>
  }, {
    %t = stablehlo.tanh %b : tensor<6x8xf32>
    stablehlo.return %t : tensor<6x8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"q"}, {}], unreduced={"p"}>]>} : (tensor<i32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
// -----
// Booleans and integers that are said to be unreduced.
sdy.mesh @m = <["x"=2, "y"=3]>
func.func public @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<6x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<6x8xf32>
  %p = stablehlo.compare GT, %a, %z {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xi1>
  %q = stablehlo.convert %p {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x", "y"}>]>} : (tensor<6x8xi1>) -> tensor<6x8xi32>
  %r = stablehlo.add %q, %q : tensor<6x8xi32>
  %s = stablehlo.convert %r {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<6x8xi32>) -> tensor<6x8xf32>
  %t = stablehlo.add %s, %a : tensor<6x8xf32>
  return %t : tensor<6x8xf32>
}
// -----
// Parts of a maximum are no summands: they are reduced before a manual computation that takes those.
sdy.mesh @m = <["x"=2, "y"=3]>
func.func public @main(%a: tensor<6x9xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<6xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced={"y"}>]>} : (tensor<6x9xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{}], unreduced={"y"}>] out_shardings=[<@m, [{}], unreduced={"y"}>] manual_axes={"y"} (%l: tensor<6xf32>) {
    %2 = stablehlo.add %l, %l : tensor<6xf32>
    sdy.return %2 : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
// plain:
func.func public @main(%a: tensor<6x9xf32>) -> tensor<6xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<6x9xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = stablehlo.add %0, %0 : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// -----
// Nor for branches.
sdy.mesh @m = <["x"=2, "y"=3]>
func.func public @main(%a: tensor<6x9xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<6xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced={"y"}>]>} : (tensor<6x9xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %0 : tensor<6xf32>
  }, {
    %t = stablehlo.negate %0 : tensor<6xf32>
    stablehlo.return %t : tensor<6xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced={"y"}>]>} : (tensor<i32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
// -----
// Nor where a loop carries them.
sdy.mesh @m = <["x"=2, "y"=3]>
func.func public @main(%a: tensor<6x9xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<6xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced={"y"}>]>} : (tensor<6x9xf32>, tensor<f32>) -> tensor<6xf32>
  %1:2 = stablehlo.while(%i = %c0, %s = %0) : tensor<i32>, tensor<6xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, []>, <@m, [{"x"}], unreduced={"y"}>]>}
    cond {
      %p = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.maximum %s, %0 : tensor<6xf32>
      %k = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %k, %t : tensor<i32>, tensor<6xf32>
    }
  return %1#1 : tensor<6xf32>
}
// -----
// A constraint and a named computation of parts of a maximum.
sdy.mesh @m = <["x"=2, "y"=3]>
func.func public @main(%a: tensor<6x9xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<6xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced={"y"}>]>} : (tensor<6x9xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{}], unreduced={"y"}> : tensor<6xf32>
  %2 = stablehlo.add %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced={"y"}>]>} : tensor<6xf32>
  %3 = sdy.named_computation<"f">(%2) in_shardings=[<@m, [{"x"}], unreduced={"y"}>] out_shardings=[<@m, [{"x"}], unreduced={"y"}>] (%b: tensor<6xf32>) {
    %4 = stablehlo.add %b, %b : tensor<6xf32>
    sdy.return %4 : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %3 : tensor<6xf32>
}
// -----
// A device's part of merged dimensions begins inside one of them: rows of a contraction's left operand (24 of 3 x 32 for each device).
sdy.mesh @m = <["x"=4]>
func.func public @main(%a: tensor<3x16x32xf32>, %b: tensor<16x40xf32>) -> tensor<96x40xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0, 2] : (tensor<3x16x32xf32>) -> tensor<16x3x32xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x3x32xf32>) -> tensor<16x96xf32>
  %2 = sdy.sharding_constraint %1 <@m, [{}, {"x"}]> : tensor<16x96xf32>
  %3 = stablehlo.dot_general %2, %b, contracting_dims = [0] x [0] : (tensor<16x96xf32>, tensor<16x40xf32>) -> tensor<96x40xf32>
  return %3 : tensor<96x40xf32>
}
// -----
// Such parts as columns of the right operand, and as what is contracted.
sdy.mesh @m = <["x"=4]>
func.func public @main(%a: tensor<3x16x32xf32>, %b: tensor<16x40xf32>, %c: tensor<40x96xf32>) -> (tensor<40x96xf32>, tensor<40x16xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0, 2] : (tensor<3x16x32xf32>) -> tensor<16x3x32xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x3x32xf32>) -> tensor<16x96xf32>
  %2 = sdy.sharding_constraint %1 <@m, [{}, {"x"}]> : tensor<16x96xf32>
  %3 = stablehlo.dot_general %b, %2, contracting_dims = [0] x [0] : (tensor<16x40xf32>, tensor<16x96xf32>) -> tensor<40x96xf32>
  %4 = stablehlo.dot_general %c, %2, contracting_dims = [1] x [1] : (tensor<40x96xf32>, tensor<16x96xf32>) -> tensor<40x16xf32>
  return %3, %4 : tensor<40x96xf32>, tensor<40x16xf32>
}
// -----
// And as columns of a right operand that lies the other way round.
sdy.mesh @m = <["x"=4]>
func.func public @main(%a: tensor<32x3x64xf32>, %b: tensor<40x64xf32>) -> tensor<40x96xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0, 2] : (tensor<32x3x64xf32>) -> tensor<3x32x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x32x64xf32>) -> tensor<96x64xf32>
  %2 = sdy.sharding_constraint %1 <@m, [{"x"}, {}]> : tensor<96x64xf32>
  %3 = stablehlo.dot_general %b, %2, contracting_dims = [1] x [1] : (tensor<40x64xf32>, tensor<96x64xf32>) -> tensor<40x96xf32>
  return %3 : tensor<40x96xf32>
}
// -----
// An argument that a constraint makes unreduced: one device keeps it, the others hold zero.
sdy.mesh @m = <["x"=8]>
func.func public @main(%a: tensor<4x2xf32>) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) {
  %0 = sdy.sharding_constraint %a <@m, [{}, {}], unreduced={"x"}> : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// -----
// Arguments unreduced over a part of an axis, sharded otherwise too.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"y", ?}, {?}]>}, %b: tensor<5x2xf32>) -> (tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, tensor<5x2xf32>) {
  %0 = sdy.sharding_constraint %a <@m, [{"y"}, {}], unreduced={"x":(1)2}> : tensor<5x2xf32>
  %1 = sdy.sharding_constraint %b <@m, [{"y"}, {}], unreduced={"x":(2)2}> : tensor<5x2xf32>
  %2 = stablehlo.add %0, %1 : tensor<5x2xf32>
  return %2, %1 : tensor<5x2xf32>, tensor<5x2xf32>
}
// -----
// Constants, iota and what is broadcast, unreduced.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<5x2xf32>) -> (tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>) {
  %c = stablehlo.constant dense<2.5> : tensor<5x2xf32>
  %d = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]> : tensor<5x2xf32>
  %i = stablehlo.iota dim = 0 : tensor<5x2xf32>
  %s = stablehlo.constant dense<0.5> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
  %0 = sdy.sharding_constraint %c <@m, [{"y"}, {}], unreduced={"x"}> : tensor<5x2xf32>
  %1 = sdy.sharding_constraint %d <@m, [{"y"}, {}], unreduced={"x"}> : tensor<5x2xf32>
  %2 = sdy.sharding_constraint %i <@m, [{"y"}, {}], unreduced={"x"}> : tensor<5x2xf32>
  %3 = sdy.sharding_constraint %b <@m, [{"y"}, {}], unreduced={"x"}> : tensor<5x2xf32>
  %4 = stablehlo.add %2, %a : tensor<5x2xf32>
  return %0, %1, %2, %3 : tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>
}
// -----
// A number that is repeated, and positions, unreduced and whole.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<1xf32>) -> tensor<5x2xf32> {
  %k = stablehlo.reshape %a : (tensor<1xf32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
  %i = stablehlo.iota dim = 0 : tensor<5x2xf32>
  %t = stablehlo.tanh %b : tensor<5x2xf32>
  %3 = sdy.sharding_constraint %b <@m, [{"y"}, {}], unreduced={"x"}> : tensor<5x2xf32>
  %6 = sdy.sharding_constraint %i <@m, [{"y"}, {}], unreduced={"x"}> : tensor<5x2xf32>
  %4 = stablehlo.add %3, %t : tensor<5x2xf32>
  %5 = stablehlo.add %4, %i : tensor<5x2xf32>
  %7 = stablehlo.add %5, %6 : tensor<5x2xf32>
  return %7 : tensor<5x2xf32>
}
// -----
// What enters a manual computation unreduced is summed inside.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<6x2xf32>) -> tensor<6x2xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y"}, {}], unreduced={"x"}>] out_shardings=[<@m, [{"y"}, {}]>] manual_axes={"x", "y"} (%b: tensor<3x2xf32>) {
    %1 = "stablehlo.all_reduce"(%b) <{replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3x2xf32>) -> tensor<3x2xf32>
    sdy.return %1 : tensor<3x2xf32>
  } : (tensor<6x2xf32>) -> tensor<6x2xf32>
  return %0 : tensor<6x2xf32>
}
// plain:
func.func public @main(%a: tensor<6x2xf32>) -> tensor<6x2xf32> {
  return %a : tensor<6x2xf32>
}
// -----
// A loop that carries unreduced values, used linearly and not.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<5x2xf32>, %b: tensor<5x2xf32>) -> (tensor<5x2xf32>, tensor<5x2xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %0 = sdy.sharding_constraint %a <@m, [{"y"}, {}], unreduced={"x"}> : tensor<5x2xf32>
  %w:3 = stablehlo.while(%i = %c0, %x = %0, %z = %b) : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, []>, <@m, [{"y"}, {}], unreduced={"x"}>, <@m, [{}, {}], unreduced={"x"}>]>}
    cond {
      %p = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.add %i, %c1 : tensor<i32>
      %y = stablehlo.add %x, %b : tensor<5x2xf32>
      %t = stablehlo.tanh %z : tensor<5x2xf32>
      stablehlo.return %n, %y, %t : tensor<i32>, tensor<5x2xf32>, tensor<5x2xf32>
    }
  return %w#1, %w#2 : tensor<5x2xf32>, tensor<5x2xf32>
}
// -----
// Maxima of shards are no sums of them, though annotated as unreduced.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}, tensor<2xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced={"x"}>]>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced={"x"}>]>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.negate %1 : tensor<2xf32>
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}
// -----
// Maxima that become unreduced over more axes.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> (tensor<2xf32>, tensor<2xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [0] : (tensor<8x2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = sdy.sharding_constraint %0 <@m, [{}], unreduced={"x","y"}> : tensor<2xf32>
  %2 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced={"x", "y"}>]>}: (tensor<8x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
// -----
// A loop whose accumulators could be carried as partial products and as partial sums.
sdy.mesh @m = <["x"=4]>
func.func public @main(%a: tensor<3x8x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {}]>}, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %inf = stablehlo.constant dense<1.0> : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %is = stablehlo.constant dense<1.0> : tensor<f32>
  %zs = stablehlo.constant dense<0.0> : tensor<f32>
  %w:4 = stablehlo.while(%i = %c0, %x = %inf, %z = %zero, %q = %zero) : tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.add %i, %c1 : tensor<i32>
      %s = stablehlo.dynamic_slice %a, %i, %c0, %c0, sizes = [1, 8, 2] : (tensor<3x8x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x2xf32>
      %r = stablehlo.reshape %s : (tensor<1x8x2xf32>) -> tensor<8x2xf32>
      %m = stablehlo.reduce(%r init: %is) applies stablehlo.multiply across dimensions = [0] : (tensor<8x2xf32>, tensor<f32>) -> tensor<2xf32>
      %u = stablehlo.reduce(%r init: %zs) applies stablehlo.add across dimensions = [0] : (tensor<8x2xf32>, tensor<f32>) -> tensor<2xf32>
      %x2 = stablehlo.multiply %x, %m : tensor<2xf32>
      %z2 = stablehlo.add %z, %u : tensor<2xf32>
      %q2 = stablehlo.subtract %q, %b : tensor<2xf32>
      stablehlo.return %n, %x2, %z2, %q2 : tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    }
  return %w#1, %w#2, %w#3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
// -----
// Results of a sort, a branch, a barrier and a product, annotated as unreduced.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %1 = "stablehlo.case"(%c) ({
    stablehlo.return %a : tensor<8x2xf32>
  }, {
    %t = stablehlo.exponential %a : tensor<8x2xf32>
    stablehlo.return %t : tensor<8x2xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {}], unreduced={"x"}>]>} : (tensor<i32>) -> tensor<8x2xf32>
  %2 = "stablehlo.optimization_barrier"(%a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {}], unreduced={"x"}>]>} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %3 = stablehlo.multiply %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {}], unreduced={"x"}>]>} : tensor<8x2xf32>
  return %0, %1, %2, %3 : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}
// -----
// A group of values that makes an argument unreduced; an argument and a result annotated so.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}], unreduced={"x"}>}, %b: tensor<8x2xf32>, %c: tensor<8x2xf32>) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}], unreduced={"y"}>}, tensor<8x2xf32>) {
  %t = stablehlo.multiply %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {}], unreduced={"x"}>]>} : tensor<8x2xf32>
  sdy.sharding_group %t group_id=1 : tensor<8x2xf32>
  sdy.sharding_group %c group_id=1 : tensor<8x2xf32>
  %0 = stablehlo.add %a, %t : tensor<8x2xf32>
  %1 = stablehlo.add %0, %c : tensor<8x2xf32>
  %2 = sdy.reshard %1 <@m, [{}, {}], unreduced={"x"}> : tensor<8x2xf32>
  return %2, %c : tensor<8x2xf32>, tensor<8x2xf32>
}
// -----
// Unreduced into and out of a named computation; two constraints on an argument.
sdy.mesh @m = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x2xf32>, %d: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@m, [{"y"}, {}], unreduced={"x"}>] out_shardings=[<@m, [{}, {}], unreduced={"x"}>] (%b: tensor<8x2xf32>) {
    %1 = stablehlo.add %b, %b : tensor<8x2xf32>
    sdy.return %1 : tensor<8x2xf32>
  } : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %2 = sdy.sharding_constraint %d <@m, [{"y"}, {}], unreduced={"x"}> : tensor<8x2xf32>
  %3 = sdy.sharding_constraint %2 <@m, [{"y"}, {}]> : tensor<8x2xf32>
  %4 = sdy.sharding_constraint %d <@m, [{"y"}, {}], unreduced={"x"}> : tensor<8x2xf32>
  return %0, %3, %4 : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}
// -----
// A dimension keeps axes that its factors have no place for; none of them goes to another dimension.
sdy.mesh @m = <["a"=2, "b"=3]>
func.func public @main(%a: tensor<3x32xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"a", "b", ?}]>}) -> (tensor<3x8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}, {?}, {?}]>}) {
  %0 = stablehlo.reshape %a : (tensor<3x32xf32>) -> tensor<3x8x4xf32>
  return %0 : tensor<3x8x4xf32>
}
// -----
// Functions that the entry does not call are none of the program, on whatever mesh they are.
sdy.mesh @other = <["z"=16]>
sdy.mesh @m = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@m, [{"y"}, {"x"}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func public @second(%b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@other, [{"z"}, {}]>}) -> tensor<8x4xf32> {
  %0 = func.call @third(%b) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @third(%b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %b {sdy.sharding = #sdy.sharding_per_value<[<@other, [{}, {"z"}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// -----
// Meshes of different sizes that never meet, the larger one second; devices beyond the smaller one repeat what lies on it.
sdy.mesh @a = <["x"=2, "y"=2]>
sdy.mesh @b = <["p"=8]>
func.func public @main(%a: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"y"}, {"x"}]>}, %b: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {}]>}) -> (tensor<9x9xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}, tensor<4xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [0] : (tensor<9x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<9x9xf32>, tensor<4xf32>
}
// -----
// Meshes of 6, 4 and 1 devices: what 4 does not share with 6 is left out.
sdy.mesh @one = <["o"=1]>
sdy.mesh @a = <["x"=4]>
sdy.mesh @b = <["p"=3, "q"=2], device_ids=[5, 4, 3, 2, 1, 0]>
func.func public @main(%a: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}, %b: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {"q"}]>}, %c: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@one, [{"o"}, {}]>}) -> (tensor<9x9xf32>, tensor<9x4xf32>, tensor<9x4xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@a, [{"x":(2)2}, {}], unreduced={"x":(1)2}>]>} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %1 = stablehlo.tanh %b : tensor<9x4xf32>
  return %0, %1, %c : tensor<9x9xf32>, tensor<9x4xf32>, tensor<9x4xf32>
}
// -----
// A manual computation on a smaller mesh, whose result meets what is on the larger one.
sdy.mesh @a = <["x"=2, "y"=2]>
sdy.mesh @b = <["p"=8]>
func.func public @main(%a: tensor<8x4xf32>, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@b, [{"p"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[#sdy.sharding<@a, [{"y"}, {}]>] out_shardings=[<@a, [{}, {}]>] manual_axes={"x", "y"} (%c: tensor<4x4xf32>) {
    %1 = "stablehlo.all_gather"(%c) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
    sdy.return %1 : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.add %0, %b : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// plain:
func.func public @main(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %2 = stablehlo.add %a, %b : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// -----
// Members of a group that contradict each other keep their annotations; the result of a manual computation keeps its local type.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {"x"}]>}) -> (tensor<8x12xf32>, tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {?}]>] out_shardings=[<@m, [{"x"}, {?}], replicated={"y"}>] manual_axes={"x", "y"} (%b: tensor<4x12xf32>) {
    %1 = stablehlo.add %b, %b : tensor<4x12xf32>
    sdy.return %1 : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %2 = stablehlo.negate %a : tensor<8x12xf32>
  sdy.sharding_group %a group_id=0 : tensor<8x12xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x12xf32>
  sdy.sharding_group %2 group_id=0 : tensor<8x12xf32>
  return %0, %2 : tensor<8x12xf32>, tensor<8x12xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32>) {
  %0 = stablehlo.add %a, %a : tensor<8x12xf32>
  %2 = stablehlo.negate %a : tensor<8x12xf32>
  return %0, %2 : tensor<8x12xf32>, tensor<8x12xf32>
}
// -----
// Annotations in strings, as artifacts had them before they held sdy: a sum over shards in a manual computation.
// collectives: all-reduce x1
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=4]>}"}, mhlo.num_partitions = 4 : i32} {
func.func public @main(%a: tensor<8x4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}, {}]>"}, mhlo.sharding = "{devices=[4,1]<=[4]}"}) -> tensor<2x4xf32> {
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
func.func @xla.sdy.manual_computation_body(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
}
// plain:
func.func public @main(%a: tensor<8x4xf32>) -> tensor<2x4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<4x2x4xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
// -----
// Keys that four heads share each, repeated and moved to other dimensions: what is repeated moves.
sdy.mesh @m = <["x"=8]>
func.func public @main(%k: tensor<16x8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}) -> (tensor<16x32x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {}]>]>} : (tensor<16x8x4xf32>) -> tensor<16x8x4x4xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}]>]>} : (tensor<16x8x4x4xf32>) -> tensor<16x32x4xf32>
  %2 = sdy.reshard %1 <@m, [{}, {"x"}, {}]> : tensor<16x32x4xf32>
  return %2 : tensor<16x32x4xf32>
}
// -----
// The same of two keys on eight devices, by parts of the axis, and of a row whose columns the program's rule wants whole.
sdy.mesh @m = <["x"=8]>
func.func public @main(%k: tensor<16x2x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}, %r: tensor<1x8xf32>) -> (tensor<16x8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {}]>}, tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %0 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}, {}]>]>} : (tensor<16x2x4xf32>) -> tensor<16x2x4x4xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}]>]>} : (tensor<16x2x4x4xf32>) -> tensor<16x8x4xf32>
  %2 = sdy.reshard %1 <@m, [{}, {"x"}, {}]> : tensor<16x8x4xf32>
  %3 = stablehlo.broadcast_in_dim %r, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([j, k]) {i=1, j=64, k=8} need_replication={k}>} : (tensor<1x8xf32>) -> tensor<64x8xf32>
  %4 = sdy.reshard %3 <@m, [{}, {"x"}]> : tensor<64x8xf32>
  return %2, %4 : tensor<16x8x4xf32>, tensor<64x8xf32>
}
