// Values that are unreduced by a maximum or minimum, run by shardy_runs.py --file=unreduced_kinds.mlir.
// A maximum that stays in parts until an all-reduce.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<16xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced=max{"y"}>]>} : (tensor<16x8xf32>, tensor<f32>) -> tensor<16xf32>
  %s = sdy.all_reduce max {"y"} %r out_sharding=<@m, [{"x"}]> : tensor<16xf32>
  return %s : tensor<16xf32>
}
// plain:
func.func public @main(%a: tensor<16x8xf32>) -> tensor<16xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}
// -----
// A minimum over both axes, reduced along one after the other; uneven sizes.
// collectives: all-reduce x1, all-reduce x1
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<13x7xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<f32> {
  %z = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.minimum across dimensions = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [], unreduced=min{"x", "y"}>]>} : (tensor<13x7xf32>, tensor<f32>) -> tensor<f32>
  %s = sdy.all_reduce min {"y"} %r out_sharding=<@m, [], unreduced=min{"x"}> : tensor<f32>
  %t = sdy.all_reduce min {"x"} %s out_sharding=<@m, []> : tensor<f32>
  return %t : tensor<f32>
}
// plain:
func.func public @main(%a: tensor<13x7xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<13x7xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
// -----
// A maximum that is scattered; uneven sizes.
// collectives: reduce-scatter x1
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<14x9x13xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {"y"}]>}) -> (tensor<14x9xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {"x"}]>}) {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [2] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"x"}], unreduced=max{"y"}>]>} : (tensor<14x9x13xf32>, tensor<f32>) -> tensor<14x9xf32>
  %s = sdy.reduce_scatter max [{"y"}, {}] %r out_sharding=<@m, [{"y"}, {"x"}]> : tensor<14x9xf32>
  return %s : tensor<14x9xf32>
}
// plain:
func.func public @main(%a: tensor<14x9x13xf32>) -> tensor<14x9xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [2] : (tensor<14x9x13xf32>, tensor<f32>) -> tensor<14x9xf32>
  return %r : tensor<14x9xf32>
}
// -----
// What is linear in a sum is not in a maximum: two unreduced values are added, negated, multiplied and put into a sum of their own.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<6x10xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"y"}]>}, %b: tensor<6x10xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"y"}]>}) -> (tensor<6xf32>, tensor<6xf32>, tensor<f32>) {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %h = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced=max{"y"}>]>} : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = stablehlo.reduce(%b init: %h) applies stablehlo.minimum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced=min{"y"}>]>} : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced=max{"y"}>]>} : tensor<6xf32>
  %3 = stablehlo.add %2, %1 : tensor<6xf32>
  %4 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced=max{"y"}>]>} : tensor<6xf32>
  %5 = stablehlo.multiply %4, %1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], unreduced=min{"y"}>]>} : tensor<6xf32>
  %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  return %3, %5, %6 : tensor<6xf32>, tensor<6xf32>, tensor<f32>
}
// plain:
func.func public @main(%a: tensor<6x10xf32>, %b: tensor<6x10xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<f32>) {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %h = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = stablehlo.reduce(%b init: %h) applies stablehlo.minimum across dimensions = [1] : (tensor<6x10xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = stablehlo.add %0, %0 : tensor<6xf32>
  %3 = stablehlo.add %2, %1 : tensor<6xf32>
  %4 = stablehlo.negate %0 : tensor<6xf32>
  %5 = stablehlo.multiply %4, %1 : tensor<6xf32>
  %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  return %3, %5, %6 : tensor<6xf32>, tensor<6xf32>, tensor<f32>
}
// -----
// A sum that is said to be unreduced by a maximum, and one by a sum, by name.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %w: tensor<12x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}], unreduced=max{"y"}>]>} : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@m, [{"x"}, {}]> : tensor<8x4xf32>
  %2 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}], unreduced=sum{"y"}>]>} : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.all_reduce sum {"y"} %2 out_sharding=<@m, [{"x"}, {}]> : tensor<8x4xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>, %w: tensor<12x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  return %0, %0 : tensor<8x4xf32>, tensor<8x4xf32>
}
// -----
// Whole values that are said to be unreduced: by an operation, by a constraint, by the program's argument and result.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}], unreduced=min{"y"}>}) -> (tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}], unreduced=max{"y"}>}) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}], unreduced=max{"y"}>]>} : tensor<7x5xf32>
  %1 = stablehlo.tanh %0 : tensor<7x5xf32>
  %2 = sdy.sharding_constraint %1 <@m, [{"x"}, {}], unreduced=min{"y"}> : tensor<7x5xf32>
  %3 = stablehlo.negate %2 : tensor<7x5xf32>
  return %3 : tensor<7x5xf32>
}
// plain:
func.func public @main(%a: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %0 = stablehlo.tanh %a : tensor<7x5xf32>
  %1 = stablehlo.tanh %0 : tensor<7x5xf32>
  %2 = stablehlo.negate %1 : tensor<7x5xf32>
  return %2 : tensor<7x5xf32>
}
// -----
// A manual computation that returns the parts of a maximum, one of a minimum and one of a sum, in a manual axis.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>) {
  %1:3 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{}, {}], unreduced=max{"x"}>, <@m, [{}, {}], unreduced=min{"x"}>, <@m, [{}, {}], unreduced={"x"}>] manual_axes={"x"} (%l: tensor<4x12xf32>) {
    %2 = stablehlo.add %l, %l : tensor<4x12xf32>
    sdy.return %2, %l, %2 : tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> (tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>)
  %2 = stablehlo.tanh %1#0 : tensor<4x12xf32>
  %3 = stablehlo.add %1#0, %1#1 : tensor<4x12xf32>
  return %2, %3, %1#2 : tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> (tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>) {
  %0 = stablehlo.slice %a [0:4, 0:12] : (tensor<8x12xf32>) -> tensor<4x12xf32>
  %1 = stablehlo.slice %a [4:8, 0:12] : (tensor<8x12xf32>) -> tensor<4x12xf32>
  %2 = stablehlo.maximum %0, %1 : tensor<4x12xf32>
  %3 = stablehlo.minimum %0, %1 : tensor<4x12xf32>
  %4 = stablehlo.add %0, %1 : tensor<4x12xf32>
  %5 = stablehlo.add %2, %2 : tensor<4x12xf32>
  %6 = stablehlo.tanh %5 : tensor<4x12xf32>
  %7 = stablehlo.add %5, %3 : tensor<4x12xf32>
  %8 = stablehlo.add %4, %4 : tensor<4x12xf32>
  return %6, %7, %8 : tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>
}
// -----
// A manual computation that takes the parts of a maximum: of one that is left in parts, of a sum and of a value that is whole outside.
sdy.mesh @m = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<6x10x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {}]>}, %w: tensor<10x4xf32>) -> (tensor<6x4xf32>, tensor<6x4x4xf32>, tensor<6x4xf32>) {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  %1 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<6x10x4xf32>, tensor<10x4xf32>) -> tensor<6x4x4xf32>
  %2 = stablehlo.tanh %0 : tensor<6x4xf32>
  %3:3 = sdy.manual_computation(%0, %1, %2) in_shardings=[<@m, [{}, {}], unreduced=max{"x"}>, <@m, [{}, {}, {}], unreduced=max{"x"}>, <@m, [{}, {}], unreduced=max{"x"}>] out_shardings=[<@m, [{}, {}]>, <@m, [{}, {}, {}]>, <@m, [{}, {}], unreduced=max{"x"}>] manual_axes={"x"} (%p: tensor<6x4xf32>, %q: tensor<6x4x4xf32>, %r: tensor<6x4xf32>) {
    %4 = "stablehlo.all_reduce"(%p) ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %s = stablehlo.maximum %u, %v : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0,4],[1,5],[2,6],[3,7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %5 = "stablehlo.all_reduce"(%q) ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %s = stablehlo.maximum %u, %v : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0,4],[1,5],[2,6],[3,7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
    sdy.return %4, %5, %r : tensor<6x4xf32>, tensor<6x4x4xf32>, tensor<6x4xf32>
  } : (tensor<6x4xf32>, tensor<6x4x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4x4xf32>, tensor<6x4xf32>)
  return %3#0, %3#1, %3#2 : tensor<6x4xf32>, tensor<6x4x4xf32>, tensor<6x4xf32>
}
// plain:
func.func public @main(%a: tensor<6x10x4xf32>, %w: tensor<10x4xf32>) -> (tensor<6x4xf32>, tensor<6x4x4xf32>, tensor<6x4xf32>) {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  %1 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<6x10x4xf32>, tensor<10x4xf32>) -> tensor<6x4x4xf32>
  %2 = stablehlo.tanh %0 : tensor<6x4xf32>
  return %0, %1, %2 : tensor<6x4xf32>, tensor<6x4x4xf32>, tensor<6x4xf32>
}
// -----
// Free and manual axes at once, on a mesh in another order and by parts of an axis; a loop that carries a maximum.
sdy.mesh @m = <["x"=2, "y"=4]>
sdy.mesh @n = <["p"=8]>
func.func public @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"p":(1)2}], unreduced=max{"p":(2)4}>]>} : (tensor<8x12xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{"x"}], unreduced=max{"y"}>] out_shardings=[<@m, [{"x"}], unreduced=max{"y"}>] manual_axes={"x"} (%q: tensor<4xf32>) {
    %2 = stablehlo.add %q, %q : tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %w:2 = stablehlo.while(%c = %i, %v = %1) : tensor<i32>, tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, []>, <@m, [{"x"}], unreduced=max{"y"}>]>}
    cond {
      %t = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %d = stablehlo.add %c, %one : tensor<i32>
      %e = stablehlo.tanh %v : tensor<8xf32>
      stablehlo.return %d, %e : tensor<i32>, tensor<8xf32>
    }
  return %1, %w#1 : tensor<8xf32>, tensor<8xf32>
}
// plain:
func.func public @main(%a: tensor<8x12xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %l = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %l) applies stablehlo.maximum across dimensions = [1] : (tensor<8x12xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  %2 = stablehlo.tanh %1 : tensor<8xf32>
  %3 = stablehlo.tanh %2 : tensor<8xf32>
  %4 = stablehlo.tanh %3 : tensor<8xf32>
  return %1, %4 : tensor<8xf32>, tensor<8xf32>
}
