// A value inside of a called function is named by its call and its own name: two calls of one function, two values.
// RUN: tessera explain %s --value=t | FileCheck %s
// CHECK: %p/%t = tanh
// CHECK: sharding [{"x"}, {}]
// CHECK-NEXT: at {{.*}}calls.mlir:17
// CHECK-NEXT: from {{.*}}calls.mlir:12
// CHECK: %q/%t = tanh
// CHECK: sharding [{}, {"x"}]

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %p = func.call @f(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = func.call @f(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p, %q : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @f(%s: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %t = stablehlo.tanh %s : tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}
