// Reductions of a kernel that go over the same elements are one; what needs another's result comes after it.
// RUN: tessera-opt %s --tessera-reduce-together | FileCheck %s

// CHECK-LABEL: func.func @moments
// CHECK: exec.fused
// CHECK: %[[SQUARE:.*]] = stablehlo.multiply %[[X:.*]], %[[X]]
// CHECK: %[[BOTH:.*]]:2 = stablehlo.reduce(%[[X]] init: %{{.*}}), (%[[SQUARE]] init: %{{.*}}) across dimensions = [1]
// CHECK: stablehlo.add
// CHECK: stablehlo.add
// CHECK: stablehlo.divide %[[BOTH]]#1, %[[BOTH]]#0
func.func @moments(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %r = exec.fused(%a = %x : tensor<8x4xf32>) -> tensor<8xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.multiply %a, %a : tensor<8x4xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.divide %2, %0 : tensor<8xf32>
    exec.yield %3 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The sum of exponentials needs the largest element; the other sum, written in front of both, needs nothing and
// goes with the maximum, and what reads it behind that.
// CHECK-LABEL: func.func @chain
// CHECK: %[[FIRST:.*]]:2 = stablehlo.reduce(%[[X:.*]] init: %{{.*}}), (%[[X]] init: %{{.*}}) across dimensions = [1]
// CHECK: stablehlo.add
// CHECK: stablehlo.maximum
// CHECK: stablehlo.broadcast_in_dim %[[FIRST]]#1
// CHECK: stablehlo.reduce(%{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: stablehlo.negate %[[FIRST]]#0
func.func @chain(%x: tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = exec.fused(%a = %x : tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.negate %0 : tensor<8xf32>
    %2 = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.subtract %a, %3 : tensor<8x4xf32>
    %5 = stablehlo.exponential %4 : tensor<8x4xf32>
    %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    exec.yield %1, %6 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Along other dimensions, or of parts that have another order of addition, they stay apart.
// CHECK-LABEL: func.func @others
// CHECK-NOT: :2 = stablehlo.reduce
func.func @others(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %r = exec.fused(%a = %x : tensor<4x4xf32>) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] {tessera.parts = 4 : i64} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.add %0, %1 : tensor<4xf32>
    %4 = stablehlo.add %3, %2 : tensor<4xf32>
    exec.yield %4 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
