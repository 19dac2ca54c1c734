// Members of a sharding group that contradict those before them leave it, and stay as they are annotated.
// RUN: tessera-opt %s --tessera-check-groups -verify-diagnostics -split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @main
func.func @main(%a: tensor<8x4xf32>) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  // expected-warning@+1 {{stays as it is annotated, #sdy.sharding<@mesh, [{}, {"x"}]>, unlike the others of its sharding group, #sdy.sharding<@mesh, [{"x"}, {}]>}}
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x4xf32>
  // CHECK: sdy.sharding_group %0
  // CHECK-NOT: sdy.sharding_group
  sdy.sharding_group %0 group_id=3 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=3 : tensor<8x4xf32>
  return
}

// -----

// What is open may still be changed.
sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @open
func.func @open(%a: tensor<8x4xf32>) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}]>]>} : tensor<8x4xf32>
  // CHECK: sdy.sharding_group %0
  // CHECK-NEXT: sdy.sharding_group %1
  sdy.sharding_group %0 group_id=3 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=3 : tensor<8x4xf32>
  return
}

// -----

// Groups that share a member are one, and a value leaves all of those that it is in.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @chain
func.func @chain(%a: tensor<8x4xf32>) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<8x4xf32>
  %1 = stablehlo.negate %a : tensor<8x4xf32>
  // expected-warning@+1 {{unlike the others of its sharding group}}
  %2 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>} : tensor<8x4xf32>
  // CHECK: sdy.sharding_group %0
  // CHECK-NEXT: sdy.sharding_group %1
  // CHECK-NEXT: sdy.sharding_group %1
  // CHECK-NEXT: return
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=1 : tensor<8x4xf32>
  sdy.sharding_group %2 group_id=1 : tensor<8x4xf32>
  sdy.sharding_group %2 group_id=2 : tensor<8x4xf32>
  return
}

// -----

// A manual computation's result is replicated over the manual axes that it is not sharded along, whatever its group says.
sdy.mesh @mesh = <["x"=4]>
func.func @manual(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  // expected-warning@+1 {{stays as it is annotated, #sdy.sharding<@mesh, [{?}, {?}], replicated={"x"}>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{?}, {?}], replicated={"x"}>] manual_axes={"x"} (%b: tensor<2x4xf32>) {
    %1 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<8x4xf32>
    sdy.return %1 : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  sdy.sharding_group %a group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @ranks(%a: tensor<8x4xf32>, %b: tensor<8xf32>) {
  sdy.sharding_group %a group_id=0 : tensor<8x4xf32>
  // expected-error@+1 {{sharding group 0 holds a value of rank 1 here and one of rank 2; give them groups of their own}}
  sdy.sharding_group %b group_id=0 : tensor<8xf32>
  return
}
