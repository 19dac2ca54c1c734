// RUN: tessera-opt %s --tessera-insert-reshards --verify-diagnostics | FileCheck %s
sdy.mesh @mesh = <["data"=2, "model"=4]>

// FSDP: 'data' is wanted by the batch and by the contracted dimension. The small weight is gathered, not the activations.
// CHECK-LABEL: @gathers_the_weight
func.func @gathers_the_weight(
    %x: tensor<4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<4096x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  // CHECK: %[[W:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
  // CHECK: dot_general %arg0, %[[W]], {{.*}}[{"data"}, {}]>
  // CHECK-NOT: reshard
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>}
      : (tensor<4096x64xf32>, tensor<64x32xf32>) -> tensor<4096x32xf32>
  return %0 : tensor<4096x32xf32>
}

// A contracted dimension that is sharded leaves a partial result; it is scattered where that is wanted.
// CHECK-LABEL: @partial_result
func.func @partial_result(
    %x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
  // CHECK: %[[P:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}}[{}, {}], unreduced={"model"}>
  // CHECK: sdy.reshard %[[P]] <@mesh, [{"model"}, {}]>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model"}, {}]>]>}
      : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  return %0 : tensor<128x32xf32>
}

// The kind of a partial value that is no sum is written on the op.
// CHECK-LABEL: @partial_max
func.func @partial_max(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
    -> tensor<128xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: reduce({{.*}}unreduced={"model"}{{.*}}tessera.partial = #tessera.partial<max>
  // CHECK: sdy.reshard {{.*}} <@mesh, [{}]>
  %0 = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1]
      : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  return %0 : tensor<128xf32>
}

// Constants are made where they are needed; nothing is moved.
// CHECK-LABEL: @free
func.func @free(%x: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>})
    -> (tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}) {
  // CHECK-NOT: reshard
  %one = stablehlo.constant dense<1.0> : tensor<128xf32>
  %0 = stablehlo.add %x, %one {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model"}]>]>} : tensor<128xf32>
  return %0 : tensor<128xf32>
}

// Two uses share one reshard, and a loop that reads a value from outside moves it before it starts.
// CHECK-LABEL: @shared
func.func @shared(%x: tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %n: tensor<i32>)
    -> tensor<128xf32> {
  // CHECK: %[[X:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK: sort
  // CHECK: while
  // CHECK-NOT: reshard
  // expected-remark @+1 {{'stablehlo.sort' needs operand #0 whole along dimension 0}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<128xf32>) -> tensor<128xf32>
  %1:2 = stablehlo.while(%i = %n, %acc = %0) : tensor<i32>, tensor<128xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      // CHECK: add {{.*}}%[[X]]
      %s = stablehlo.add %acc, %x : tensor<128xf32>
      stablehlo.return %i, %s : tensor<i32>, tensor<128xf32>
    }
  return %1#1 : tensor<128xf32>
}

// The body of a named computation is part of the program: what enters and leaves it lies as it says. Wrong would be: gathering what enters.
// CHECK-LABEL: @named
// CHECK: %[[IN:.*]] = sdy.reshard %arg0 <@mesh, [{"data"}, {}]>
// CHECK: sdy.named_computation<"f">(%[[IN]])
// CHECK: %[[T:.*]] = stablehlo.tanh
// CHECK: %[[OUT:.*]] = sdy.reshard %[[T]] <@mesh, [{}, {"data"}]>
// CHECK: sdy.return %[[OUT]]
func.func @named(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) {
  %0 = sdy.named_computation<"f">(%x) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {"data"}]>] (%b: tensor<16x8xf32>) {
    %1 = stablehlo.tanh %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : tensor<16x8xf32>
    sdy.return %1 : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// A concatenation needs its dimension whole: what lies along it goes to the rows and comes back, instead of being gathered.
// CHECK-LABEL: @moves_aside
func.func @moves_aside(%x: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %y: tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
    -> (tensor<1024x1536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {
  // CHECK: %[[X:.*]] = sdy.reshard %arg0 <@mesh, [{"model"}, {}]>
  // CHECK: %[[Y:.*]] = sdy.reshard %arg1 <@mesh, [{"model"}, {}]>
  // CHECK: %[[C:.*]] = stablehlo.concatenate %[[X]], %[[Y]], dim = 1 {{.*}}[{"model"}, {}]
  %0 = stablehlo.concatenate %x, %y, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"model"}]>]>} : (tensor<1024x1024xf32>, tensor<1024x512xf32>) -> tensor<1024x1536xf32>
  // CHECK: sdy.reshard %[[C]] <@mesh, [{}, {"model"}]>
  return %0 : tensor<1024x1536xf32>
}

// A scalar repeated once along a sharded dimension of size 1 is not made again there: the rule has no axes for a single row.
// CHECK-LABEL: @one_row
func.func @one_row(%x: tensor<f32>) -> (tensor<1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim
  // CHECK: %[[R:.*]] = sdy.reshard %[[B]] <@mesh, [{"data"}]>
  // CHECK: return %[[R]]
  %0 = stablehlo.broadcast_in_dim %x, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
