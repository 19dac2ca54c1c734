// A program that only moves data has no number of operations that a change could be held against: wrong would be "nan% more operations".
// RUN: tessera explain %s --topology=h100 | FileCheck %s --implicit-check-not=operations
// CHECK: mend: argument %b
// CHECK-NEXT: a step less {{.*}} sent
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<4096x1024xf32>, %b: tensor<2048x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>) -> (tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %a, %b, %i, %zero : (tensor<4096x1024xf32>, tensor<2048x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
