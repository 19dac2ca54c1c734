// What is explained is what is compiled: the same collectives with the same bytes, each with a cause; in loops, halos, manual
// computations and reshards that the program asks for.
// RUN: %python %root/test/tools/explain/same-figures.py %s | FileCheck %s
// CHECK: the same {{[1-9]}}

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
                       %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32x64xf32>, tensor<32x60xf32>, tensor<64x32xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %s = %a) : tensor<i32>, tensor<32x64xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %d = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
      %t = stablehlo.tanh %d : tensor<32x64xf32>
      %n = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %n, %t : tensor<i32>, tensor<32x64xf32>
    }
  %1 = stablehlo.slice %0#1 [0:32, 3:63] : (tensor<32x64xf32>) -> tensor<32x60xf32>
  %2 = stablehlo.transpose %0#1, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"y"}, {"x"}]> : tensor<64x32xf32>
  %4 = stablehlo.exponential %3 : tensor<64x32xf32>
  return %0#1, %1, %4 : tensor<32x64xf32>, tensor<32x60xf32>, tensor<64x32xf32>
}
