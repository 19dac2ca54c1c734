// Kernels print as they parse, with inputs named at the operands they come from.
// RUN: tessera-opt --allow-unregistered-dialect %s | tessera-opt --allow-unregistered-dialect | FileCheck %s

// CHECK: exec.kernel @double(%[[X:.*]]: tensor<8xf32>) -> tensor<8xf32> attributes {grid = 2 : i64, inplace = array<i64: 0>} {
// CHECK-NEXT: %[[S:.*]] = "t.add"(%[[X]], %[[X]])
// CHECK-NEXT: exec.yield %[[S]] : tensor<8xf32>
exec.kernel @double(%x: tensor<8xf32>) -> tensor<8xf32> attributes {inplace = array<i64: 0>, grid = 2 : i64} {
  %s = "t.add"(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  exec.yield %s : tensor<8xf32>
}

// CHECK: func.func @two(%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<f32>)
// CHECK-NEXT: exec.fused(%[[X:.*]] = %[[A]] : tensor<8xf32>, %[[Y:.*]] = %[[B]] : tensor<f32>) -> (tensor<8xf32>, tensor<f32>) attributes {inplace = array<i64: 0, -1>} {
// CHECK-NEXT: exec.yield %[[X]], %[[Y]] : tensor<8xf32>, tensor<f32>
func.func @two(%a: tensor<8xf32>, %b: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
  %r:2 = exec.fused(%x = %a : tensor<8xf32>, %y = %b : tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
      attributes {inplace = array<i64: 0, -1>} {
    exec.yield %x, %y : tensor<8xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<f32>
}
