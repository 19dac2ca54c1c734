// The first block of the case is the one for true: index 0.
// RUN: tessera-opt %s --tessera-if-to-case | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[T:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG: %[[F:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK: %[[I:.*]] = stablehlo.select %arg0, %[[T]], %[[F]]
// CHECK: "stablehlo.case"(%[[I]])
// CHECK-NEXT: stablehlo.return %arg1
// CHECK-NEXT: }, {
// CHECK-NEXT: stablehlo.return %arg2
func.func @main(%p: tensor<i1>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<8xf32>
  }, {
    stablehlo.return %b : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
