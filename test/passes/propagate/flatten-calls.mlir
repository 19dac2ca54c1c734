// Every call gets a function of its own. Wrong would be: two callers whose shardings meet in a shared callee.
// RUN: tessera-opt %s --tessera-flatten-calls --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @main
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: call @outer(
  %0 = call @outer(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: call @outer_0(
  %1 = call @outer(%b) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
// CHECK: @outer(
// CHECK-NEXT: call @inner(
// CHECK: @outer_0({{.*}} tessera.copy_of = @outer
// CHECK-NEXT: call @inner_1(
func.func private @outer(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @inner(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: @inner(
// CHECK: @inner_1({{.*}} tessera.copy_of = @inner
func.func private @inner(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @endless(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-error @+1 {{@endless calls itself; only loops can be compiled}}
func.func private @endless(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @endless(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
