// RUN: tessera-opt %s --tessera-flatten-tuples | FileCheck %s

// Tuples become their parts, in the signature too; tokens go.

// CHECK-LABEL: func.func @tuples
// CHECK-SAME:    (%arg0: tensor<2xf32>, %arg1: tensor<3xi32>, %arg2: tensor<4xf32>) -> (tensor<3xi32>, tensor<4xf32>, tensor<2xf32>)
// CHECK-NEXT:    return %arg1, %arg2, %arg0
func.func @tuples(%t: tuple<tensor<2xf32>, tuple<tensor<3xi32>>>, %x: tensor<4xf32>) -> (tuple<tensor<3xi32>, tensor<4xf32>>, tensor<2xf32>) {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tuple<tensor<3xi32>>>) -> tensor<2xf32>
  %1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tuple<tensor<3xi32>>>) -> tuple<tensor<3xi32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<3xi32>>) -> tensor<3xi32>
  %3 = stablehlo.tuple %2, %x : tuple<tensor<3xi32>, tensor<4xf32>>
  return %3, %0 : tuple<tensor<3xi32>, tensor<4xf32>>, tensor<2xf32>
}

// What aliases an output follows it when tokens before it go.
// CHECK-LABEL: func.func @tokens
// CHECK-SAME:    (%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32>
// CHECK-NOT:     token
// CHECK:         %[[W:.*]] = stablehlo.while(%[[X:.*]] = %arg0) : tensor<4xf32>
// CHECK:           stablehlo.return %[[X]] : tensor<4xf32>
// CHECK:         %[[C:.*]] = stablehlo.custom_call @f(%[[W]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         return %[[C]] : tensor<4xf32>
func.func @tokens(%k: !stablehlo.token, %x: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (!stablehlo.token, tensor<4xf32>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %k, %0 : !stablehlo.token
  %c = stablehlo.constant dense<false> : tensor<i1>
  %2:2 = stablehlo.while(%a = %1, %b = %x) : !stablehlo.token, tensor<4xf32>
    cond {
      stablehlo.return %c : tensor<i1>
    } do {
      %4 = stablehlo.after_all %a : !stablehlo.token
      stablehlo.return %4, %b : !stablehlo.token, tensor<4xf32>
    }
  %3:2 = stablehlo.custom_call @f(%2#0, %2#1) : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
  return %3#0, %3#1 : !stablehlo.token, tensor<4xf32>
}

// CHECK-LABEL: func.func @call_of_tuples
// CHECK:         %[[B:.*]]:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<2xf32>, tensor<3xi32>
// CHECK:         %[[C:.*]]:2 = stablehlo.custom_call @f(%[[B]]#0, %[[B]]#1) : (tensor<2xf32>, tensor<3xi32>) -> (tensor<2xf32>, tensor<3xi32>)
// CHECK:         return %[[C]]#1
func.func @call_of_tuples(%x: tensor<2xf32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %0 = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<3xi32>>
  %1 = stablehlo.optimization_barrier %0 : tuple<tensor<2xf32>, tensor<3xi32>>
  %2 = stablehlo.custom_call @f(%1) : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tuple<tensor<2xf32>, tensor<3xi32>>
  %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  return %3 : tensor<3xi32>
}
