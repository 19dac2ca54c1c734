// Updates write what changes, or become places that readers choose by. Guards against another place where an index
// lies outside, and against arrays that are passed over where a part of them is updated in place.
// RUN: tessera-opt %s --tessera-simplify-updates | FileCheck %s

// CHECK-LABEL: @chosen
// CHECK: %[[OLD:.*]] = stablehlo.dynamic_slice %[[X:.*]], %[[I:.*]], %[[J:.*]], sizes = [1, 8]
// CHECK: %[[PART:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[OLD]] : tensor<i1>, tensor<1x8xf32>
// CHECK: %[[NEW:.*]] = stablehlo.dynamic_update_slice %[[X]], %[[PART]], %[[I]], %[[J]]
// CHECK: return %[[NEW]]
func.func @chosen(%p: tensor<i1>, %x: tensor<6x8xf32>, %y: tensor<1x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<6x8xf32> {
  %u = stablehlo.dynamic_update_slice %x, %y, %i, %j : (tensor<6x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  %r = stablehlo.select %p, %u, %x : tensor<i1>, tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// The predicate for all elements may be repeated; the update may be what is left.
// CHECK-LABEL: @left
// CHECK-SAME: %[[P:.*]]: tensor<i1>
// CHECK: %[[OLD:.*]] = stablehlo.dynamic_slice
// CHECK: stablehlo.select %[[P]], %[[OLD]], %{{.*}} : tensor<i1>, tensor<1x8xf32>
// CHECK: stablehlo.dynamic_update_slice
func.func @left(%p: tensor<i1>, %x: tensor<6x8xf32>, %y: tensor<1x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<6x8xf32> {
  %q = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<i1>) -> tensor<6x8xi1>
  %u = stablehlo.dynamic_update_slice %x, %y, %i, %j : (tensor<6x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  %r = stablehlo.select %q, %x, %u : tensor<6x8xi1>, tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// Between two arrays, of which neither is the other updated; and an update that something else reads.
// CHECK-LABEL: @others
// CHECK: stablehlo.dynamic_update_slice
// CHECK-NEXT: stablehlo.select
// CHECK-NEXT: stablehlo.select
func.func @others(%p: tensor<i1>, %x: tensor<6x8xf32>, %z: tensor<6x8xf32>, %y: tensor<1x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %u = stablehlo.dynamic_update_slice %x, %y, %i, %j : (tensor<6x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  %r = stablehlo.select %p, %u, %z : tensor<i1>, tensor<6x8xf32>
  %s = stablehlo.select %p, %u, %x : tensor<i1>, tensor<6x8xf32>
  return %r, %s : tensor<6x8xf32>, tensor<6x8xf32>
}

// One number at a place, of what is computed, for what computes: the place is inside.
// CHECK-LABEL: @place
// CHECK: %[[LAST:.*]] = stablehlo.constant dense<5> : tensor<i32>
// CHECK: %[[AT:.*]] = stablehlo.clamp %{{.*}}, %{{.*}}, %[[LAST]]
// CHECK: stablehlo.iota dim = 0 : tensor<6x8xi32>
// CHECK: stablehlo.broadcast_in_dim %[[AT]]
// CHECK: %[[THERE:.*]] = stablehlo.compare EQ
// CHECK: %[[R:.*]] = stablehlo.select %[[THERE]], %{{.*}}, %{{.*}} : tensor<6x8xi1>, tensor<6x8xf32>
// CHECK: stablehlo.multiply %[[R]]
func.func @place(%x: tensor<6x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<6x8xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<1x8xf32>
  %a = stablehlo.add %x, %x : tensor<6x8xf32>
  %u = stablehlo.dynamic_update_slice %a, %zeros, %i, %j : (tensor<6x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  %r = stablehlo.multiply %u, %x : tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// Of an array that is there it is done in place.
// CHECK-LABEL: @inPlace
// CHECK: stablehlo.dynamic_update_slice
func.func @inPlace(%x: tensor<6x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<6x8xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<1x8xf32>
  %u = stablehlo.dynamic_update_slice %x, %zeros, %i, %j : (tensor<6x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  %r = stablehlo.negate %u : tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// jnp.roll(x, 1, 0).at[0].set(y), and .at[2].set(y)
// CHECK-LABEL: @rolled
// CHECK: %[[REST:.*]] = stablehlo.slice %{{.*}} [0:3, 0:8]
// CHECK: %[[ROW:.*]] = stablehlo.reshape %{{.*}} : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK: stablehlo.concatenate %[[ROW]], %[[REST]], dim = 0
// CHECK-NOT: stablehlo.scatter
func.func @rolled(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %first = stablehlo.constant dense<0> : tensor<1xi32>
  %a = stablehlo.slice %x [3:4, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %b = stablehlo.slice %x [0:3, 0:8] : (tensor<4x8xf32>) -> tensor<3x8xf32>
  %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  %r = "stablehlo.scatter"(%c, %first, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A place outside replaces nothing; a sum is no replacement.
// CHECK-LABEL: @outside
// CHECK-COUNT-2: stablehlo.scatter
func.func @outside(%x: tensor<2x8xf32>, %z: tensor<2x8xf32>, %y: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %beyond = stablehlo.constant dense<4> : tensor<1xi32>
  %last = stablehlo.constant dense<3> : tensor<1xi32>
  %c = stablehlo.concatenate %x, %z, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %r = "stablehlo.scatter"(%c, %beyond, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<4x8xf32>
  %d = stablehlo.concatenate %z, %x, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %s = "stablehlo.scatter"(%d, %last, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %sum = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %r, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// The gradient of that: slices beside the row are the array's, and the row's slice is the row.
// CHECK-LABEL: @sliced
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<8xf32>
// CHECK-NOT: stablehlo.scatter
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[Y]]
// CHECK: stablehlo.slice %[[ROW]] [0:1, 2:8]
// CHECK: stablehlo.slice %[[X]] [2:4, 0:8]
func.func @sliced(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> (tensor<1x6xf32>, tensor<2x8xf32>) {
  %second = stablehlo.constant dense<1> : tensor<1xi32>
  %r = "stablehlo.scatter"(%x, %second, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<4x8xf32>
  %a = stablehlo.slice %r [1:2, 2:8] : (tensor<4x8xf32>) -> tensor<1x6xf32>
  %b = stablehlo.slice %r [2:4, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return %a, %b : tensor<1x6xf32>, tensor<2x8xf32>
}

// CHECK-LABEL: @across
// CHECK: stablehlo.scatter
func.func @across(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<2x8xf32> {
  %second = stablehlo.constant dense<1> : tensor<1xi32>
  %r = "stablehlo.scatter"(%x, %second, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<4x8xf32>
  %b = stablehlo.slice %r [1:3, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return %b : tensor<2x8xf32>
}
