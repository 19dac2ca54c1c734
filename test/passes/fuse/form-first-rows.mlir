// RUN: tessera-opt %s --tessera-form-first-rows --tessera-form-kernels | FileCheck %s

// A sort of which only the first rows are read is one kernel with the slices: the rest need not be sorted.

// CHECK-LABEL: func.func @first
// CHECK:         exec.fused
// CHECK:           stablehlo.iota
// CHECK:           stablehlo.sort
// CHECK:           stablehlo.slice
// CHECK:           stablehlo.slice
// CHECK:           exec.yield %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<4x3xi32>
// CHECK-NOT:     exec.fused
func.func @first(%x: tensor<4x100xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<4x100xi32>
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x100xf32>, tensor<4x100xi32>) -> (tensor<4x100xf32>, tensor<4x100xi32>)
  %2 = stablehlo.slice %0#0 [0:4, 0:3] : (tensor<4x100xf32>) -> tensor<4x3xf32>
  %3 = stablehlo.slice %0#1 [0:4, 0:3] : (tensor<4x100xi32>) -> tensor<4x3xi32>
  return %2, %3 : tensor<4x3xf32>, tensor<4x3xi32>
}

// Not where the last rows are read, too.

// CHECK-LABEL: func.func @last
// CHECK:         exec.fused
// CHECK:           stablehlo.sort
// CHECK-NOT:       stablehlo.slice
// CHECK:           exec.yield
func.func @last(%x: tensor<100xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<100xf32>) -> tensor<100xf32>
  %2 = stablehlo.slice %0 [0:3] : (tensor<100xf32>) -> tensor<3xf32>
  %3 = stablehlo.slice %0 [97:100] : (tensor<100xf32>) -> tensor<3xf32>
  return %2, %3 : tensor<3xf32>, tensor<3xf32>
}
