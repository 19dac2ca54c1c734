// An order is chosen by an estimate of what it holds: this program's for a bound may need more than that where one for another bound does not.
// Where the least that an error names fits, every bound from there on does.
// RUN: not tessera compile %s -o %t --memory=2400 2>&1 | FileCheck %s
// RUN: tessera compile %s -o %t --memory=2792
// RUN: tessera compile %s -o %t --memory=2846
// RUN: tessera compile %s -o %t --memory=3000

// CHECK: error: {{.*}}it needs 2792 bytes. Allow --memory=2792,
sdy.mesh @m = <["x"=2, "y"=2]>
func.func public @main(%arg0: tensor<7x1x32x1xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {"x"}, {}]>}, %arg1: tensor<6x15xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"x", "y"}]>}) -> (tensor<7x1x32x1xf32>, tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", "y", ?}]>}, tensor<7x1x32x1xcomplex<f32>>) {
  %v1 = sdy.sharding_constraint %arg0 <@m, [{}, {}, {?}, {}], unreduced={"x", "y"}> : tensor<7x1x32x1xf32>
  %v2 = "stablehlo.complex"(%arg0, %v1) {} : (tensor<7x1x32x1xf32>, tensor<7x1x32x1xf32>) -> (tensor<7x1x32x1xcomplex<f32>>)
  %v3 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> (tensor<f32>)
  %v4 = sdy.sharding_constraint %v3 <@m, []> : tensor<f32>
  %v5 = "stablehlo.reduce"(%arg1, %v4) ({
    ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
      %res = "stablehlo.maximum"(%lhs, %rhs) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%res) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 1>} : (tensor<6x15xf32>, tensor<f32>) -> (tensor<6xf32>)
  %v6 = sdy.sharding_constraint %v5 <@m, [{"x", ?}]> : tensor<6xf32>
  %v7 = sdy.sharding_constraint %v2 <@m, [{?}, {}, {"x"}, {}], unreduced={"y"}> : tensor<7x1x32x1xcomplex<f32>>
  %v8 = "stablehlo.real"(%v7) {} : (tensor<7x1x32x1xcomplex<f32>>) -> (tensor<7x1x32x1xf32>)
  %v9 = sdy.sharding_constraint %v8 <@m, [{}, {}, {}, {}]> : tensor<7x1x32x1xf32>
  return %v9, %v6, %v2 : tensor<7x1x32x1xf32>, tensor<6xf32>, tensor<7x1x32x1xcomplex<f32>>
}
