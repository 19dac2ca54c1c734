// What a program holds without a bound is a bound that it keeps, also one that calls a library, whose scratch only orders for a bound count.
// RUN: tessera compile --target-cpu=x86-64-v3 %s -o %t 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: tessera compile --target-cpu=x86-64-v3 %s -o %t --memory=668
// RUN: not tessera compile --target-cpu=x86-64-v3 %s -o %t --memory=600 2>&1 | FileCheck %s --check-prefix=LEAST

// PLAIN: peak 668 bytes a device
// LEAST: error: {{.*}}it needs 668 bytes. Allow --memory=668,
sdy.mesh @m = <["x"=6]>
func.func public @main(%x: tensor<9xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(3)2, ?}]>}, %n: tensor<f32>, %at: tensor<2x1xi32>,
                       %u: tensor<2xf32>) -> (tensor<complex<f32>>, tensor<9x1xcomplex<f32>>, tensor<9xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<2xf32>
  %end = stablehlo.slice %x [5:9] : (tensor<9xf32>) -> tensor<4xf32>
  %sum = stablehlo.reduce(%end init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %column = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x":(3)2}, {}], unreduced={"x":(1)3}>]>} : (tensor<9xf32>) -> tensor<9x1xf32>
  %spread = sdy.sharding_constraint %column <@m, [{"x"}, {}]> : tensor<9x1xf32>
  %pair = stablehlo.complex %n, %sum : tensor<complex<f32>>
  %there = stablehlo.fft %spread, type = RFFT, length = [1] : (tensor<9x1xf32>) -> tensor<9x1xcomplex<f32>>
  %back = stablehlo.fft %there, type = IFFT, length = [1] : (tensor<9x1xcomplex<f32>>) -> tensor<9x1xcomplex<f32>>
  %more = stablehlo.add %u, %three : tensor<2xf32>
  %parts = sdy.sharding_constraint %more <@m, [{"x":(3)2}], unreduced={"x":(1)3}> : tensor<2xf32>
  %added = "stablehlo.scatter"(%x, %at, %parts) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
     : (tensor<9xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<9xf32>
  %result = sdy.sharding_constraint %added <@m, [{"x"}]> : tensor<9xf32>
  return %pair, %back, %result : tensor<complex<f32>>, tensor<9x1xcomplex<f32>>, tensor<9xf32>
}
