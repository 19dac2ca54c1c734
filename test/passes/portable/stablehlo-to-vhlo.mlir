// StableHLO in the operations that a release reads: every attribute is written, and old releases get old versions.
// RUN: tessera-opt %s --tessera-stablehlo-to-vhlo=version=1.8.0 --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: vhlo.func_v1 @f(%arg0: !vhlo.tensor_v1<2x?x!vhlo.f32_v1, #vhlo.type_extensions_v1<bounds = [-9223372036854775808, 5]>>) -> ()
// CHECK-NEXT: "vhlo.exponential_v1"(%arg0) {foo.flag = #vhlo.integer_v1<3 : i8>} :
// CHECK-NEXT: "vhlo.sort_v1"(%arg0) <{dimension = #vhlo.integer_v1<-1 : i64>, is_stable = #vhlo.bool_v1<true>}> ({
// CHECK: "vhlo.compare_v1"{{.*}} <{compare_type = #vhlo<comparison_type_v1 NOTYPE>, comparison_direction = #vhlo<comparison_direction_v1 LT>}> :
// CHECK-NEXT: "vhlo.return_v1"
// CHECK: {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
func.func @f(%arg0: tensor<2x?xf32, #stablehlo.bounds<?, 5>>) {
  %0 = stablehlo.exponential %arg0 {foo.flag = 3 : i8} : tensor<2x?xf32, #stablehlo.bounds<?, 5>>
  %1 = "stablehlo.sort"(%arg0) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {is_stable = true} : (tensor<2x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<2x?xf32, #stablehlo.bounds<?, 5>>
  return
}

// -----

func.func @accuracy(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'result_accuracy' of stablehlo.exponential needs StableHLO 1.9.0 or later, and the artifact is to be read by 1.8.0}}
  %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @mixed(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @-2 {{an operation of another dialect needs StableHLO 1.11.0 or later}}
  return %arg0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the attribute 'arg_attrs' = [{tf.something}] needs StableHLO 1.11.0 or later}}
func.func @unit(%arg0: tensor<4xf32> {tf.something}) {
  return
}
