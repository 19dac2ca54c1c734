// RUN: tessera-opt %s --split-input-file --verify-diagnostics --tessera-decompose-custom-calls | FileCheck %s

// Custom calls that StableHLO and chlo have words for; others stay.

// CHECK-LABEL: func.func @topk
// CHECK-NEXT:    %[[V:.*]], %[[I:.*]] = chlo.top_k(%arg0, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
// CHECK-NEXT:    return %[[V]], %[[I]]
func.func @topk(%x: tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}

// The smallest are the largest of the complement: -x would not do for the least integer.
// CHECK-LABEL: func.func @smallest
// CHECK-NEXT:    %[[N:.*]] = stablehlo.not %arg0
// CHECK-NEXT:    %[[V:.*]], %[[I:.*]] = chlo.top_k(%[[N]], k = 2)
// CHECK-NEXT:    %[[M:.*]] = stablehlo.not %[[V]]
// CHECK-NEXT:    return %[[M]], %[[I]]
func.func @smallest(%x: tensor<8xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}} : (tensor<8xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @approximate
// CHECK-NEXT:    %[[S:.*]]:2 = "stablehlo.sort"(%arg0, %arg1)
// CHECK-SAME:      dimension = 1 : i64, is_stable = true
// CHECK:           stablehlo.compare GT
// CHECK:         stablehlo.slice %[[S]]#0 [0:3, 0:2]
// CHECK:         stablehlo.slice %[[S]]#1 [0:3, 0:2]
func.func @approximate(%x: tensor<3x8xf32>, %i: tensor<3x8xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<3x8xf32>, tensor<3x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: func.func @functions
// CHECK-NEXT:    %[[E:.*]] = chlo.erf %arg0
// CHECK-NEXT:    %[[T:.*]] = stablehlo.tan %[[E]]
// CHECK-NEXT:    stablehlo.custom_call @unknown(%[[T]])
func.func @functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @mhlo.tan(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @unknown(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// A sharding is said of the value, whatever computes it.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @annotated
// CHECK:         chlo.erf %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
func.func @annotated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @mhlo.erf(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @print(%x: tensor<4xf32>) {
  // expected-error@+1 {{calls back into Python, where no compiled program goes; leave jax.debug.print and callbacks out of what you export}}
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return
}

// -----

// What JAX prints while XLA compiles gives nothing to a program.
// CHECK-LABEL: func.func @inspected
// CHECK-NEXT:    return
func.func @inspected(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{how this value is sharded is printed by `tessera explain --all`}}
  stablehlo.custom_call @InspectSharding(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// -----

// Wrong would be: a program for StableHLO's interpreter is refused for what it expects of its values.
// CHECK-LABEL: func.func @expected
// CHECK-NEXT:    return %arg0
func.func @expected(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning@+1 {{@check.expect_close is left out: a compiled program gives its results and compares none}}
  stablehlo.custom_call @check.expect_close(%x, %y) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// -----

// Where values are placed: by JAX's kinds of memory, and in XLA's own words.

// CHECK-LABEL: func.func @placed
// CHECK-NEXT:    %[[H:.*]] = comm.transfer to  host(%arg0)
// CHECK-NEXT:    %[[D:.*]] = comm.transfer to  device(%[[H]])
// CHECK-NEXT:    %[[M:.*]] = comm.transfer to  host(%[[D]])
// CHECK-NEXT:    comm.transfer to  device(%[[M]])
func.func @placed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @annotate_device_placement(%x) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @annotate_device_placement(%0) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @MoveToHost(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @MoveToDevice(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
