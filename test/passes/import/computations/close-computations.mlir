// RUN: tessera-opt %s --tessera-close-computations --split-input-file --verify-diagnostics | FileCheck %s

// What a computation uses from around it becomes an operand; constants stay where they are.

// CHECK-LABEL: func.func @reduce
// CHECK:         %[[C:.*]] = stablehlo.constant dense<7> : tensor<i32>
// CHECK:         %[[S:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<4x5xi32>
// CHECK:         %[[R:.*]]:2 = stablehlo.reduce(%arg0 init: %arg2), (%[[S]] init: %arg1) across dimensions = [0]
// CHECK:          reducer(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>) (%{{.*}}: tensor<i32>, %[[O:.*]]: tensor<i32>)
// CHECK:           %[[M:.*]] = stablehlo.maximum %[[A]], %[[B]]
// CHECK:           %[[N:.*]] = stablehlo.minimum %[[M]], %[[C]]
// CHECK:           %[[L:.*]] = stablehlo.maximum %[[N]], %[[O]]
// CHECK:           stablehlo.return %[[L]], %[[O]]
// CHECK:         return %[[R]]#0
func.func @reduce(%x: tensor<4x5xi32>, %bound: tensor<i32>, %z: tensor<i32>) -> tensor<5xi32> {
  %c = stablehlo.constant dense<7> : tensor<i32>
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.maximum %a, %b : tensor<i32>
    %2 = stablehlo.minimum %1, %c : tensor<i32>
    %3 = stablehlo.maximum %2, %bound : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<4x5xi32>, tensor<i32>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

// A comparator's arguments are pairs.
// CHECK-LABEL: func.func @sort
// CHECK:         "stablehlo.sort"(%arg0, %{{.*}})
// CHECK:         ^bb0(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>, %{{.*}}: tensor<i32>, %[[O:.*]]: tensor<i32>):
// CHECK:           stablehlo.xor %[[A]], %[[O]]
// CHECK:           stablehlo.xor %[[B]], %[[O]]
func.func @sort(%x: tensor<5xi32>, %mask: tensor<i32>) -> tensor<5xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.xor %a, %mask : tensor<i32>
    %2 = stablehlo.xor %b, %mask : tensor<i32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<5xi32>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

// Updates are spread over the updates' shape.
// CHECK-LABEL: func.func @scatter
// CHECK-DAG:     %[[I:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-DAG:     %[[U:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2xf32>
// CHECK:         "stablehlo.scatter"(%arg0, %[[I]], %arg1, %arg2, %[[U]])
// CHECK:         ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[B:.*]]: tensor<f32>, %[[O:.*]]: tensor<f32>):
// CHECK:           %[[P:.*]] = stablehlo.multiply %[[B]], %[[O]]
// CHECK:           stablehlo.return %[[P]], %[[O]]
func.func @scatter(%x: tensor<8xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %k: tensor<f32>) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %b, %k : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @map
// CHECK:         "stablehlo.map"(%arg0, %{{.*}})
// CHECK:         ^bb0(%[[A:.*]]: tensor<f32>, %[[O:.*]]: tensor<f32>):
// CHECK:           stablehlo.add %[[A]], %[[O]]
func.func @map(%x: tensor<3xf32>, %k: tensor<f32>) -> tensor<3xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.add %a, %k : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @no_room(%x: tensor<4xf32>, %s: tensor<4xf32>, %k: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.select_and_scatter' has a computation that uses a value of type 'tensor<f32>' from around it; it can use constants}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %k) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %k : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @not_a_scalar(%x: tensor<4xf32>, %v: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{uses a value of type 'tensor<2xf32>' from around it; it can use scalars}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.slice %v [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
