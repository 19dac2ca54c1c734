// Copies of a function that are sharded alike become one again; those that aren't stay.
// RUN: tessera-opt %s --tessera-merge-functions | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: @main
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: call @f(
  // CHECK-NEXT: call @f(
  // CHECK-NEXT: call @f_2(
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f_1(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f_2(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK: @f(
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-NOT: @f_1
// CHECK: @f_2(%{{.*}}: tensor<8xf32>) -> tensor<8xf32> {
func.func private @f_1(%a: tensor<8xf32>) -> tensor<8xf32> attributes {tessera.copy_of = @f, tessera.copy_number = 1} {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f_2(%a: tensor<8xf32>) -> tensor<8xf32> attributes {tessera.copy_of = @f, tessera.copy_number = 2} {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
