// What the sdy language can say, a program each: shardy_language.py compares what propagation makes of it with Shardy's own.
// Sub-axes: split by a reshape, and merged by one; differs: what the user writes on an input stays.
sdy.mesh @mesh = <["x"=8, "y"=2]>
func.func public @main(%a: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4, ?}, {"y", ?}]>}) -> tensor<96xf32> {
  %0 = stablehlo.tanh %a : tensor<16x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x6xf32>) -> tensor<4x4x6xf32>
  %2 = stablehlo.negate %1 : tensor<4x4x6xf32>
  %3 = stablehlo.reshape %2 : (tensor<4x4x6xf32>) -> tensor<96xf32>
  return %3 : tensor<96xf32>
}
// -----
// Sub-axes in two dimensions, one axis cut in two; differs: what the user writes on an input stays.
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {"x":(2)4, ?}]>}, %b: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.exponential %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// -----
// Non-divisible split: 8 shards of a 4 x 6 dimension.
sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4x6xf32> {
  %0 = stablehlo.reshape %a : (tensor<24xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.tanh %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
// -----
// Priorities per dimension.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {"y", ?}p0]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}p0, {"x", ?}p2]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// -----
// Explicitly replicated axes stay out.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}], replicated={"x"}>]>} : tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// -----
// A dangling constraint, and one with a single use.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  %2 = stablehlo.negate %a : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %4 = stablehlo.exponential %3 : tensor<8x8xf32>
  return %0, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}
// -----
// Two constraints on one value.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %3 = stablehlo.negate %1 : tensor<8x8xf32>
  %4 = stablehlo.exponential %2 : tensor<8x8xf32>
  return %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}
// -----
// A chain of constraints.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %3 = stablehlo.negate %0 : tensor<8x8xf32>
  %4 = stablehlo.add %3, %2 : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
// -----
// A sharding group.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = stablehlo.negate %b : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x8xf32>
  %2 = stablehlo.exponential %1 : tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
// -----
// A manual computation with a free axis, which flows through it.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %2 = stablehlo.negate %b : tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.exponential %1 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
// -----
// One manual computation in another.
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"z", ?}]>}) -> tensor<8x8xf32> {
  %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %2 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{"y", ?}, {?}]>] out_shardings=[<@mesh, [{"y", ?}, {?}]>] manual_axes={"y"} (%c: tensor<2x8xf32>) {
      %3 = stablehlo.negate %c : tensor<2x8xf32>
      sdy.return %3 : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.tanh %2 : tensor<4x8xf32>
    sdy.return %4 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// -----
// A named computation is as if it were not there.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.named_computation<"f">(%a) (%b: tensor<8x8xf32>) {
    %1 = stablehlo.tanh %b : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.negate %0 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// -----
// Barriers: one way, and none.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=BACKWARD : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.negate %a : tensor<8x8xf32>
  %3 = sdy.propagation_barrier %2 allowed_direction=FORWARD : tensor<8x8xf32>
  %4 = stablehlo.exponential %3 : tensor<8x8xf32>
  return %1, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}
// -----
// Through a loop, from what follows it to what it starts with.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>, %n: tensor<i32>) -> tensor<8x8xf32> {
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1:2 = stablehlo.while(%i = %n, %s = %0) : tensor<i32>, tensor<8x8xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.tanh %s : tensor<8x8xf32>
      %k = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %k, %t : tensor<i32>, tensor<8x8xf32>
    }
  %2 = stablehlo.exponential %1#1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// -----
// Through a branch, and an optimization barrier.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32>, %k: tensor<i32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "stablehlo.case"(%k) ({
    %t = stablehlo.tanh %a : tensor<8x8xf32>
    stablehlo.return %t : tensor<8x8xf32>
  }, {
    %t = stablehlo.negate %b : tensor<8x8xf32>
    stablehlo.return %t : tensor<8x8xf32>
  }) : (tensor<i32>) -> tensor<8x8xf32>
  %1:2 = stablehlo.optimization_barrier %0, %b : tensor<8x8xf32>, tensor<8x8xf32>
  %2 = stablehlo.exponential %1#0 : tensor<8x8xf32>
  %3 = stablehlo.cosine %1#1 : tensor<8x8xf32>
  return %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}
// -----
// Each use of a constant has its own sharding.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %d = stablehlo.tanh %c : tensor<8x8xf32>
  %0 = stablehlo.add %a, %d : tensor<8x8xf32>
  %1 = stablehlo.add %b, %d : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
// -----
// A custom call with a rule of its own.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @twist(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=4}, custom>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.tanh %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// -----
// A rule along one of whose factors nothing flows.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @twist(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=4} blocked_propagation={j}, custom>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.tanh %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// -----
// Windows, paddings, slices, concatenations, reversals, gathers.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %z: tensor<f32>, %i: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<15x16xf32>, tensor<20x16xf32>, tensor<8x16xf32>, tensor<16x32xf32>, tensor<4x16xf32>) {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %m = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<16x16xf32>, tensor<f32>) -> tensor<15x16xf32>
  %1 = stablehlo.pad %a, %z, low = [2, 0], high = [2, 0], interior = [0, 0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<20x16xf32>
  %2 = stablehlo.slice %a [4:12, 0:16] : (tensor<16x16xf32>) -> tensor<8x16xf32>
  %3 = stablehlo.reverse %a, dims = [0] : tensor<16x16xf32>
  %4 = stablehlo.concatenate %3, %a, dim = 1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x32xf32>
  %5 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<16x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
  return %0, %1, %2, %4, %5 : tensor<15x16xf32>, tensor<20x16xf32>, tensor<8x16xf32>, tensor<16x32xf32>, tensor<4x16xf32>
}
// -----
// Two meshes with other axes and the same devices: each where it is written.
sdy.mesh @one = <["x"=4]>
sdy.mesh @two = <["a"=2, "b"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@two, [{"a"}, {"b"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  %1 = stablehlo.negate %b : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
// -----
// Devices in another order.
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// -----
// What an op keeps flows before what it reduces, however large the tensor that the latter comes from.
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<128x1536xf32>, %b: tensor<1536x384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> (tensor<128x384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) {
  %0 = stablehlo.tanh %a : tensor<128x1536xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<128x1536xf32>, tensor<1536x384xf32>) -> tensor<128x384xf32>
  return %1 : tensor<128x384xf32>
}
// -----
// Output features of a convolution before its spatial dimensions.
sdy.mesh @mesh = <["h"=4]>
func.func public @main(%a: tensor<4x16x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"h", ?}, {?}, {?}]>}, %k: tensor<3x3x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}, {"h"}]>}) -> tensor<4x16x16x16xf32> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x8xf32>, tensor<3x3x8x16xf32>) -> tensor<4x16x16x16xf32>
  %1 = stablehlo.tanh %0 : tensor<4x16x16x16xf32>
  return %1 : tensor<4x16x16x16xf32>
}
// -----
// Which tensor is larger: a convolution's kernel counts without its window.
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<16x4x4x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}, {?}, {?}]>}, %k: tensor<3x3x128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}, {"x", "y"}]>}) -> tensor<16x4x4x128xf32> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<16x4x4x128xf32>, tensor<3x3x128x128xf32>) -> tensor<16x4x4x128xf32>
  return %0 : tensor<16x4x4x128xf32>
}
// -----
// A sharding group of a constant holds all its copies.
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %c: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.iota dim = 1 : tensor<8x16xf32>
  sdy.sharding_group %0 group_id=1 : tensor<8x16xf32>
  sdy.sharding_group %c group_id=1 : tensor<8x16xf32>
  %1 = stablehlo.add %a, %0 : tensor<8x16xf32>
  %2 = stablehlo.add %b, %0 : tensor<8x16xf32>
  return %1, %2, %c : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
// -----
// A barrier of a constant is one for each use.
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.iota dim = 1 : tensor<8x16xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8x16xf32>
  %2 = stablehlo.add %a, %1 : tensor<8x16xf32>
  %3 = stablehlo.add %b, %1 : tensor<8x16xf32>
  return %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>
}
