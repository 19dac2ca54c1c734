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
// Border calls around a manual region, as strings say it.
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
