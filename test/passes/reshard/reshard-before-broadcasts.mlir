// RUN: tessera-opt %s --split-input-file --tessera-reshard-before-broadcasts --tessera-verify-reshard | FileCheck %s

// One row is gathered, not the 64 that it becomes; who reads the shards reads them still.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @repeated
func.func @repeated(%x: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<64x8xf32>, tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK: %[[SHARDS:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] {{.*}}[{}, {"x"}]
  // CHECK: %[[ROW:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<1x8xf32>
  // CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[ROW]], dims = [0, 1] {{.*}}[{}, {}]
  // CHECK: return %[[ALL]], %[[SHARDS]]
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<1x8xf32>) -> tensor<64x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<64x8xf32>
  return %1, %0 : tensor<64x8xf32>, tensor<64x8xf32>
}

// -----

// The axes of rows that are not there before go nowhere: what a device has is enough.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @moved_rows
func.func @moved_rows(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK: %[[PART:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK: stablehlo.broadcast_in_dim %[[PART]], dims = [1] {{.*}}[{}, {"x"}]
  // CHECK-NOT: sdy.reshard
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8xf32>) -> tensor<64x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}

// -----

// Behind a broadcast that is reshaped, as jnp.repeat makes 32 heads of 8: the shards of the heads are those of the keys.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @heads
func.func @heads(%k: tensor<16x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<16x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  // CHECK-NEXT: %[[KEYS:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"x"}, {}]> : tensor<16x8x64xf32>
  // CHECK-NEXT: %[[MORE:.*]] = stablehlo.broadcast_in_dim %[[KEYS]], dims = [0, 1, 3] {{.*}}[{}, {"x"}, {}, {}]
  // CHECK-NEXT: %[[HEADS:.*]] = stablehlo.reshape %[[MORE]] {{.*}}[{}, {"x"}, {}]
  // CHECK-NEXT: return %[[HEADS]]
  %0 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {}]>]>} : (tensor<16x8x64xf32>) -> tensor<16x8x4x64xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<16x8x4x64xf32>) -> tensor<16x32x64xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}]> : tensor<16x32x64xf32>
  return %2 : tensor<16x32x64xf32>
}

// -----

// Of two keys each half of the shards has one. Four shards of six heads are none of three keys.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @shared_keys
func.func @shared_keys(%k: tensor<16x2x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %l: tensor<16x3x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<16x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, tensor<16x6x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  // CHECK: sdy.reshard %arg0 <@mesh, [{}, {"x":(1)2}, {}]> : tensor<16x2x64xf32>
  // CHECK-NEXT: stablehlo.broadcast_in_dim {{.*}}[{}, {"x":(1)2}, {"x":(2)2}, {}]
  // CHECK-NEXT: stablehlo.reshape {{.*}}[{}, {"x"}, {}]
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg1
  // CHECK-NEXT: stablehlo.reshape
  // CHECK-NEXT: sdy.reshard {{.*}}tensor<16x6x64xf32>
  %0 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {}]>]>} : (tensor<16x2x64xf32>) -> tensor<16x2x4x64xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<16x2x4x64xf32>) -> tensor<16x8x64xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}]> : tensor<16x8x64xf32>
  %3 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {}]>]>} : (tensor<16x3x64xf32>) -> tensor<16x3x2x64xf32>
  %4 = stablehlo.reshape %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<16x3x2x64xf32>) -> tensor<16x6x64xf32>
  %5 = sdy.reshard %4 <@mesh, [{}, {"x"}, {}]> : tensor<16x6x64xf32>
  return %2, %5 : tensor<16x8x64xf32>, tensor<16x6x64xf32>
}

// -----

// In a loop: once, before it.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @rounds
func.func @rounds(%n: tensor<i32>, %x: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  // CHECK: %[[ROW:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]> : tensor<1x8xf32>
  // CHECK: stablehlo.while
  // CHECK: do
  // CHECK-NEXT: stablehlo.broadcast_in_dim %[[ROW]], dims = [0, 1] {{.*}}[{}, {}]
  // CHECK-NOT: sdy.reshard
  %0:2 = stablehlo.while(%i = %n, %sum = %y) : tensor<i32>, tensor<64x8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %1 = stablehlo.broadcast_in_dim %x, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<1x8xf32>) -> tensor<64x8xf32>
      %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<64x8xf32>
      %3 = stablehlo.add %sum, %2 : tensor<64x8xf32>
      stablehlo.return %i, %3 : tensor<i32>, tensor<64x8xf32>
    }
  return %0#1 : tensor<64x8xf32>
}

// -----

// In a manual computation: by the axes that it leaves.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @manual
func.func @manual(%x: tensor<1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>}) -> (tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  // CHECK: manual_axes={"y"} (%[[X:.*]]: tensor<1x8xf32>) {
  // CHECK-NEXT: %[[ROW:.*]] = sdy.reshard %[[X]] <@mesh, [{}, {}]> : tensor<1x8xf32>
  // CHECK-NEXT: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[ROW]], dims = [0, 1] {{.*}}[{}, {}]
  // CHECK-NEXT: sdy.return %[[ALL]]
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {"y", "x"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%a: tensor<1x8xf32>) {
    %1 = stablehlo.broadcast_in_dim %a, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<1x8xf32>) -> tensor<64x8xf32>
    %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<64x8xf32>
    sdy.return %2 : tensor<64x8xf32>
  } : (tensor<1x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// -----

// A rule that the program gives: columns are whole wherever the broadcast is computed.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @ruled
func.func @ruled(%x: tensor<1x8xf32>) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: sdy.reshard
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([j, k]) {i=1, j=64, k=8} need_replication={k}>} : (tensor<1x8xf32>) -> tensor<64x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}

// -----

// No rule has an axis along a single row.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @single_row
func.func @single_row(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<1x64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: sdy.reshard
  %0 = stablehlo.broadcast_in_dim %x, dims = [2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"x"}]>]>} : (tensor<8xf32>) -> tensor<1x64x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}, {}]> : tensor<1x64x8xf32>
  return %1 : tensor<1x64x8xf32>
}

// -----

// Parts of a sum stay: behind the broadcast they are added, wherever that lies.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @partial
func.func @partial(%a: tensor<1x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x8xf32> {
  // CHECK: stablehlo.dot_general
  // CHECK-NEXT: stablehlo.broadcast_in_dim
  // CHECK-NEXT: sdy.reshard
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<1x32xf32>, tensor<32x8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<1x8xf32>) -> tensor<64x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<64x8xf32>
  return %2 : tensor<64x8xf32>
}

// -----

// Nothing is repeated.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<16x8xf32>) {
  // CHECK: stablehlo.broadcast_in_dim %arg0
  // CHECK-NEXT: sdy.reshard
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
