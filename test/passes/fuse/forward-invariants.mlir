// What a loop carries unchanged is read from outside; a value that changes stays carried.
// RUN: tessera-opt %s --tessera-forward-invariants | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK: %[[R:.*]]:2 = stablehlo.while(%{{.*}} = %{{.*}}, %[[X:.*]] = %arg0) : tensor<i32>, tensor<8xf32>
// CHECK: stablehlo.multiply %[[X]], %[[C]]
// CHECK: return %[[R]]#1, %[[C]]
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<2.0> : tensor<8xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %k = %c, %v = %x) : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.multiply %v, %k : tensor<8xf32>
    stablehlo.return %j, %k, %w : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#2, %r#1 : tensor<8xf32>, tensor<8xf32>
}
