// Arrays that a computation does not combine go apart, those that it combines stay together, and a sort is made anew for what only follows it.
// RUN: tessera-opt %s --tessera-split-variadics=most=2 | FileCheck %s

// The first and the third array meet; the constant is no meeting.
// CHECK-LABEL: func.func @reduce
// CHECK: %[[A:.*]]:2 = stablehlo.reduce(%arg0 init: %[[Z:.*]]), (%arg2 init: %[[Z]]) across dimensions = [0]
// CHECK: reducer(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK: stablehlo.return %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: %[[B:.*]]:2 = stablehlo.reduce(%arg1 init: %[[Z]]), (%arg3 init: %[[Z]]) across dimensions = [0]
// CHECK: return %[[A]]#0, %[[B]]#0, %[[A]]#1, %[[B]]#1
func.func @reduce(%a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<5xf32>, %d: tensor<5xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0:4 = "stablehlo.reduce"(%a, %b, %c, %d, %z, %z, %z, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %c0: tensor<f32>, %d0: tensor<f32>, %a1: tensor<f32>, %b1: tensor<f32>, %c1: tensor<f32>, %d1: tensor<f32>):
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %1 = stablehlo.add %a0, %a1 : tensor<f32>
    %2 = stablehlo.maximum %b0, %b1 : tensor<f32>
    %3 = stablehlo.multiply %c0, %c1 : tensor<f32>
    %4 = stablehlo.add %3, %1 : tensor<f32>
    %5 = stablehlo.minimum %d0, %two : tensor<f32>
    stablehlo.return %1, %2, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }) : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @sort
// CHECK: %[[A:.*]]:2 = "stablehlo.sort"(%arg0, %arg1)
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>, %[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>):
// CHECK: stablehlo.compare LT, %[[X]], %[[Y]]
// CHECK: %[[B:.*]]:2 = "stablehlo.sort"(%arg1, %arg2)
// CHECK: return %[[A]]#0, %[[A]]#1, %[[B]]#1
func.func @sort(%a: tensor<5xi32>, %b: tensor<5xf32>, %c: tensor<5xi8>) -> (tensor<5xi32>, tensor<5xf32>, tensor<5xi8>) {
  %0:3 = "stablehlo.sort"(%a, %b, %c) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %a1: tensor<i32>, %b0: tensor<f32>, %b1: tensor<f32>, %c0: tensor<i8>, %c1: tensor<i8>):
    %1 = stablehlo.compare LT, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5xi32>, tensor<5xf32>, tensor<5xi8>) -> (tensor<5xi32>, tensor<5xf32>, tensor<5xi8>)
  return %0#0, %0#1, %0#2 : tensor<5xi32>, tensor<5xf32>, tensor<5xi8>
}

// CHECK-LABEL: func.func @scatter
// CHECK: "stablehlo.scatter"(%arg0, %arg1, %[[I:.*]], %[[U:[^,]*]], %[[V:[^,)]*]])
// CHECK: "stablehlo.scatter"(%arg2, %[[I]], %[[U]])
func.func @scatter(%a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<5xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %v: tensor<2xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0:3 = "stablehlo.scatter"(%a, %b, %c, %i, %u, %v, %u) <{scatter_dimension_numbers =
      #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %c0: tensor<f32>, %a1: tensor<f32>, %b1: tensor<f32>, %c1: tensor<f32>):
    %1 = stablehlo.add %a0, %a1 : tensor<f32>
    %2 = stablehlo.maximum %b0, %b1 : tensor<f32>
    stablehlo.return %1, %2, %c1 : tensor<f32>, tensor<f32>, tensor<f32>
  }) : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
  return %0#0, %0#1, %0#2 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// All three meet: one op, however many are wanted.
// CHECK-LABEL: func.func @together
// CHECK: %[[R:.*]]:3 = stablehlo.reduce
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @together(%a: tensor<5xf32>, %z: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0:3 = "stablehlo.reduce"(%a, %a, %a, %z, %z, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %c0: tensor<f32>, %a1: tensor<f32>, %b1: tensor<f32>, %c1: tensor<f32>):
    %1 = stablehlo.add %a0, %b1 : tensor<f32>
    %2 = stablehlo.add %b0, %c1 : tensor<f32>
    %3 = stablehlo.add %c0, %a1 : tensor<f32>
    stablehlo.return %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>
  }) : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<f32>, tensor<f32>
}
