// The embedding example runs two steps of a program on zeros: state goes from step to step on the devices.
// RUN: tessera compile %s -o %t.tsr
// RUN: embed %t.tsr | FileCheck %s
// CHECK: [0] = 2
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %one = stablehlo.constant dense<1.0> : tensor<10xf32>
  %0 = stablehlo.add %a, %one : tensor<10xf32>
  return %0 : tensor<10xf32>
}
