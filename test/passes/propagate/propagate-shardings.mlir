// How shardings flow. Each function shows one thing.
// RUN: tessera-opt %s --tessera-propagate-shardings | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4]>

// Along the factors of a contraction; the contracted one goes from operand to operand.
// CHECK-LABEL: @dot
// CHECK-SAME: %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", ?}, {"b", ?}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>})
func.func @dot(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"c"}]>},
               %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", ?}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.dot_general {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Two dimensions of the result want axis "a": the larger operand's wins.
// CHECK-LABEL: @conflict
func.func @conflict(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> tensor<4x8xf32> {
  // CHECK: stablehlo.dot_general {{.*}}<@mesh, [{?}, {"a", ?}]>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Operands that disagree: what both begin with flows. A part of an axis is a beginning of it.
// CHECK-LABEL: @common_beginning
func.func @common_beginning(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", "a"}]>},
                            %y: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c":(1)2, "b"}]>}) -> tensor<16xf32> {
  // CHECK: stablehlo.add {{.*}}<@mesh, [{"c":(1)2, ?}]>
  %0 = stablehlo.add %x, %y : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// The operands of an elementwise op follow its result: axes that it can't have would have to be gathered.
// CHECK-LABEL: @closed
// CHECK-SAME: %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}
func.func @closed(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}, %y: tensor<16xf32>)
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // CHECK: stablehlo.add {{.*}}<@mesh, [{"a"}]>
  %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Explicitly replicated axes are not used, although the dimension is open.
// CHECK-LABEL: @replicated
func.func @replicated(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) -> tensor<16xf32> {
  // CHECK: stablehlo.tanh {{.*}}<@mesh, [{"a", ?}], replicated={"b"}>
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}], replicated={"b"}>]>} : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// A reshape splits an axis over the dimensions it makes, and puts it together again.
// CHECK-LABEL: @reshape
func.func @reshape(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.reshape {{.*}}<@mesh, [{"c":(1)2, ?}, {"c":(2)2, ?}]>
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.reshape {{.*}}<@mesh, [{"c", ?}]>
  %1 = stablehlo.reshape %0 : (tensor<2x4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// What propagation adds to inputs and outputs divides them evenly; what the user says stays.
// CHECK-LABEL: @boundaries
// CHECK-SAME: %arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", ?}]>}
// CHECK-SAME: %arg1: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}
func.func @boundaries(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", ?}]>}, %y: tensor<6xf32>) -> tensor<6xf32> {
  // CHECK: stablehlo.add {{.*}}<@mesh, [{"c", ?}]>
  %0 = stablehlo.add %x, %y : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// Who gives an argument in unequal shards takes results of its shape that lie so.
// CHECK-LABEL: @state
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}
// CHECK-SAME: -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", ?}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", ?}]>},
// CHECK-SAME: tensor<6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>})
func.func @state(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})
    -> (tensor<6xf32>, tensor<8xf32>, tensor<6x2xf32>) {
  %0 = stablehlo.add %x, %x : tensor<6xf32>
  %1 = stablehlo.add %y, %y : tensor<8xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<6xf32>) -> tensor<6x2xf32>
  return %0, %1, %2 : tensor<6xf32>, tensor<8xf32>, tensor<6x2xf32>
}

// Elementwise ops go first: the dot takes what the sum has from the bias.
// CHECK-LABEL: @op_priority
func.func @op_priority(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %y: tensor<8x8xf32>,
                       %z: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.dot_general {{.*}}<@mesh, [{?}, {"a", ?}]>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.add {{.*}}<@mesh, [{?}, {"a", ?}]>
  %1 = stablehlo.add %0, %z : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Priority 0 first: %y decides the sum, and %x, whose priority is lower, keeps its own sharding.
// CHECK-LABEL: @user_priority
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {?}]>}
func.func @user_priority(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {?}]>},
                         %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}]>}) -> tensor<8x8xf32> {
  // CHECK: stablehlo.add {{.*}}<@mesh, [{?}, {"a", ?}]>
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Into a loop, around it and out again; the counter has nothing to shard.
// CHECK-LABEL: @loop
func.func @loop(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  // CHECK: stablehlo.while
  %0:3 = stablehlo.while(%u = %x, %v = %y, %j = %i) : tensor<8xf32>, tensor<8xf32>, tensor<i32>
  // CHECK: attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>, <@mesh, [{"a", ?}]>, <@mesh, []>]>}
  cond {
    %p = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    // CHECK: stablehlo.tanh {{.*}}<@mesh, [{"a", ?}]>
    %1 = stablehlo.tanh %u : tensor<8xf32>
    stablehlo.return %v, %1, %j : tensor<8xf32>, tensor<8xf32>, tensor<i32>
  }
  return %0#1 : tensor<8xf32>
}

// Out of a branch.
// CHECK-LABEL: @branch
func.func @branch(%i: tensor<i32>, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<8xf32>
  }, {
    // CHECK: stablehlo.tanh {{.*}}<@mesh, [{"a", ?}]>
    %1 = stablehlo.tanh %y : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  // CHECK: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>}
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Free axes go through a manual computation, manual ones stop at its boundary.
// CHECK-LABEL: @manual
func.func @manual(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<8x8xf32> {
  // CHECK: in_shardings=[<@mesh, [{"a", ?}, {"b", ?}]>] out_shardings=[<@mesh, [{"a", ?}, {"b", ?}]>]
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x8xf32>) {
    // CHECK: stablehlo.tanh {{.*}}<@mesh, [{?}, {"b", ?}]>
    %1 = stablehlo.tanh %y : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.tanh {{.*}}<@mesh, [{"a", ?}, {"b", ?}]>
  %2 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// A barrier lets shardings through one way.
// CHECK-LABEL: @barrier
// CHECK-SAME: %arg1: tensor<8xf32>)
func.func @barrier(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.propagation_barrier %y allowed_direction=FORWARD : tensor<8xf32>
  // CHECK: stablehlo.add {{.*}}<@mesh, [{"a", ?}]>
  %1 = stablehlo.add %0, %x : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Members of a group are sharded alike though no data flows between them.
// CHECK-LABEL: @group
func.func @group(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.tanh {{.*}}<@mesh, [{"a", ?}]>
  %0 = stablehlo.tanh %x : tensor<8xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8xf32>
  // CHECK: stablehlo.exponential {{.*}}<@mesh, [{"a", ?}]>
  %1 = stablehlo.exponential %y : tensor<8xf32>
  sdy.sharding_group %1 group_id=3 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// What the annotations of a group's members say together holds for all of them: wrong would be what the first says.
// CHECK-LABEL: @group_together
func.func @group_together(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: stablehlo.tanh {{.*}}<@mesh, [{"a"}, {"b", ?}]>
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"b", ?}]>]>} : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=4 : tensor<8x8xf32>
  // CHECK: stablehlo.exponential {{.*}}<@mesh, [{"a"}, {"b", ?}]>
  %1 = stablehlo.exponential %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {?}]>]>} : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=4 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// An op of which nothing is known passes nothing on, unless it brings its rule.
// CHECK-LABEL: @custom
func.func @custom(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: stablehlo.custom_call @unknown(%arg0) : (tensor<8x8xf32>)
  %0 = stablehlo.custom_call @unknown(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.custom_call @flip(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"a", ?}]>]>
  %1 = stablehlo.custom_call @flip(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=8} blocked_propagation={j}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Two meshes don't mix.
sdy.mesh @other = <["a"=8]>
// CHECK-LABEL: @meshes
func.func @meshes(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>},
                  %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.add %arg0, %arg1 : tensor<8xf32>
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// One value that is both operands, along other dimensions: what it gets as the left one counts as the right one.
// CHECK-LABEL: @twice_an_operand
// CHECK-SAME: %arg0: tensor<40x40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}]>}
func.func @twice_an_operand(%x: tensor<40x40xf32>) -> tensor<40xf32> {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [1] x [0], contracting_dims = [0] x [1] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}]> : tensor<40xf32>
  return %1 : tensor<40xf32>
}
