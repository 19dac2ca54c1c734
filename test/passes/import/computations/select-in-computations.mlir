// RUN: tessera-opt %s --tessera-select-in-computations --split-input-file --verify-diagnostics | FileCheck %s

// A computation on elements has no branches: both sides are computed, and one is selected.

// CHECK-LABEL: func.func @larger
// CHECK:         stablehlo.reduce
// CHECK:         %[[P:.*]] = stablehlo.compare GT, %[[A:.*]], %[[B:.*]] :
// CHECK-NEXT:    %[[N:.*]] = stablehlo.negate %[[B]]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.select %[[P]], %[[A]], %[[N]]
// CHECK-NEXT:    stablehlo.return %[[S]]
func.func @larger(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %c = "stablehlo.if"(%p) ({
      stablehlo.return %a : tensor<f32>
    }, {
      %n = stablehlo.negate %b : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %c : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Numbers without a branch take the last one. A branch in a branch is selected first.

// CHECK-LABEL: func.func @cases
// CHECK:         %[[INNER:.*]] = stablehlo.select %{{.*}}, %[[X:.*]], %[[Y:.*]] : tensor<i1>, tensor<i32>
// CHECK:         %[[IS1:.*]] = stablehlo.compare EQ, %[[X]], %{{.*}}
// CHECK:         %[[TAIL:.*]] = stablehlo.select %[[IS1]], %[[Y]], %[[INNER]]
// CHECK:         %[[IS0:.*]] = stablehlo.compare EQ, %[[X]], %{{.*}}
// CHECK:         stablehlo.select %[[IS0]], %[[X]], %[[TAIL]]
func.func @cases(%x: tensor<4xi32>, %i: tensor<1xi32>, %u: tensor<1xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = "stablehlo.case"(%a) ({
      stablehlo.return %a : tensor<i32>
    }, {
      stablehlo.return %b : tensor<i32>
    }, {
      %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %d = "stablehlo.if"(%p) ({
        stablehlo.return %a : tensor<i32>
      }, {
        stablehlo.return %b : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      stablehlo.return %d : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<4xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @loop(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error@+1 {{'stablehlo.while' is a loop in the computation of 'stablehlo.reduce', which can compute with single numbers only}}
    %w = stablehlo.while(%u = %a) : tensor<f32>
    cond {
      %p = stablehlo.compare LT, %u, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      stablehlo.return %b : tensor<f32>
    }
    stablehlo.return %w : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func @array(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error@+1 {{'stablehlo.broadcast_in_dim' makes an array of several elements in the computation of 'stablehlo.sort'}}
    %u = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %v = stablehlo.slice %u [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %s = stablehlo.reshape %v : (tensor<1xf32>) -> tensor<f32>
    %p = stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
