// RUN: tessera-opt %s --tessera-localize -split-input-file -verify-diagnostics | FileCheck %s
// A sort is local along the dimensions it does not sort; a custom call with side effects is refused, one with a rule follows it.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: "stablehlo.sort"(%arg0)
  // CHECK: (tensor<2x6xf32>) -> tensor<2x6xf32>
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{custom call @mine has side effects, which every device would repeat}}
  %0 = stablehlo.custom_call @mine(%x) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A comparator that reads a constant from outside of it: the constant is there again in the local
// program (the global one goes).

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @comparator_with_constant
// CHECK:         %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00>
// CHECK:         "stablehlo.sort"
// CHECK:           stablehlo.maximum %{{.*}}, %[[ZERO]]
func.func @comparator_with_constant(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %zero = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0.0> : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %zero : tensor<f32>
    %c = stablehlo.compare LT, %m, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A custom call's own rule: the batch (factor i) stays sharded, rows that pad it included.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<10x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<10x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: stablehlo.custom_call @f(%arg0) : (tensor<3x3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NOT: comm.
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l]) {i=10, j=3, k=3, l=3}, custom>} : (tensor<10x3x3xf32>) -> tensor<10x3xf32>
  return %0 : tensor<10x3xf32>
}

// A transform is linear: parts of a sum become parts of its transform.
// CHECK-LABEL: @parts
func.func public @parts(%x: tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> {
  %0 = sdy.reshard %x <@mesh, [{}, {}], unreduced={"x"}> : tensor<4x8xcomplex<f32>>
  // CHECK: %[[P:.*]] = stablehlo.select
  // CHECK-NEXT: %[[F:.*]] = stablehlo.fft %[[P]]
  // CHECK-NEXT: comm.all_reduce sum(%[[F]])
  %1 = stablehlo.fft %0, type = FFT, length = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<4x8xcomplex<f32>>
  return %2 : tensor<4x8xcomplex<f32>>
}

// What is marked as parts is made of parts, also where an op cannot make them itself: its users add them up.
// CHECK-LABEL: @marked
func.func public @marked(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[C:.*]] = stablehlo.cholesky
  // CHECK: %[[P:.*]] = stablehlo.select %{{.*}}, %[[C]]
  // CHECK: comm.all_reduce sum(%[[P]])
  %0 = stablehlo.cholesky %x, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Right-hand sides are solved for one by one: wrong would be to gather them.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @columns
func.func public @columns(%a: tensor<3x3xf32>, %b: tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  // CHECK-NOT: comm.
  // CHECK: "stablehlo.triangular_solve"(%arg0, %arg1) {{.*}} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<3x3xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

// Along a factor that the rule reduces, parts of the operands give parts of the sum; wrong would be to
// gather them.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @reduced
func.func public @reduced(%x: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<6xf32> {
  // CHECK: %[[P:.*]] = stablehlo.custom_call @f(%arg0) : (tensor<6x2xf32>) -> tensor<6xf32>
  // CHECK-NEXT: comm.all_reduce sum(%[[P]])
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=6, j=8} reduction={j}, custom>} : (tensor<6x8xf32>) -> tensor<6xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// Rows past the end would be added: the factor is gathered, and one device has the sum.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @uneven
func.func public @uneven(%x: tensor<6x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<6xf32> {
  // CHECK: stablehlo.custom_call @f(%{{.*}}) : (tensor<6x7xf32>) -> tensor<6xf32>
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=6, j=7} reduction={j}, custom>} : (tensor<6x7xf32>) -> tensor<6xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
