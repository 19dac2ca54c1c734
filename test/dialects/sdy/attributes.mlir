// Every attribute prints as Shardy's tools write it.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --emit-bytecode | tessera-opt | FileCheck %s

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=8, "z"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
sdy.mesh @mesh = <["x"=2, "y"=8, "z"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
// CHECK: sdy.mesh @reversed = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @reversed = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>
// CHECK: sdy.mesh @maximal = <[], device_ids=[3]>
sdy.mesh @maximal = <[], device_ids=[3]>
// CHECK: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>
// CHECK: sdy.mesh @"of two words" = <["x"=2]>
sdy.mesh @"of two words" = <["x"=2]>

// CHECK: %{{.*}}: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p0, {"y":(1)2, "y":(4)2}p1], replicated={"z":(1)2}, unreduced={"z":(2)2}>}
// CHECK-SAME: %{{.*}}: tensor<f32> {sdy.sharding = #sdy.sharding<@maximal, []>}
// CHECK-SAME: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{?}, {}]>}
func.func @shardings(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x",?}p0, {"y":(1)2,"y":(4)2}p1], unreduced={"z":(2)2}, replicated={"z":(1)2}>},
    %b: tensor<f32> {sdy.sharding = #sdy.sharding<@maximal, []>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{?}, {}]>}) {
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@"of two words", [{?}, {?}]>]>
  // CHECK-SAME: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@"of two words", [{?},{?}]>]>,
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A sum is not written; without unreduced axes there is nothing to combine.
// CHECK-LABEL: @kinds
// CHECK-SAME: [{}], unreduced={"x"}>
// CHECK-SAME: [{}], replicated={"z"}, unreduced=max{"x", "y":(1)2}>
// CHECK-SAME: [{}], replicated={"z"}, unreduced=min{"x"}>
func.func @kinds(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=sum{"x"}>},
                 %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x", "y":(1)2}, replicated={"z"}>},
                 %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"z"}, unreduced=min{"x"}>}) {
  return
}

// Devices in the order that no ids mean: one mesh, written in two ways.
// CHECK: sdy.mesh @in_order = <["x"=2, "y"=2]>
sdy.mesh @in_order = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>

// CHECK: module @others attributes
module @others attributes {
  // CHECK-SAME: a.all_to_all = #sdy<all_to_all_param_list[{"x"}: 0->1, {"y", "z"}: 2->3]>
  a.all_to_all = #sdy<all_to_all_param_list[{"x"}: 0->1, {"y", "z"}: 2->3]>,
  // CHECK-SAME: a.axis = #sdy<axis_ref"x":(1)2>
  a.axis = #sdy<axis_ref"x":(1)2>,
  // CHECK-SAME: a.lists = #sdy<list_of_axis_ref_lists[{"x"}, {}]>
  a.lists = #sdy<list_of_axis_ref_lists[{"x"}, {}]>,
  // CHECK-SAME: a.manual = #sdy<manual_axes{"x", "y"}>
  a.manual = #sdy<manual_axes{"x", "y"}>,
  // CHECK-SAME: a.rule = #sdy.op_sharding_rule<([i, j, k])->([ijk]) {i=2, j=3, k=4} reduction={i} need_replication={j} permutation={k} blocked_propagation={i}, custom>
  a.rule = #sdy.op_sharding_rule<([i, j, k])->([ijk]) {i=2, j=3, k=4} reduction={i} need_replication={j} permutation={k} blocked_propagation={i}, custom>,
  // CHECK-SAME: a.scalar_rule = #sdy.op_sharding_rule<([])->([])>
  a.scalar_rule = #sdy.op_sharding_rule<([])->([])>,
  // Factors after z are z_1, z_2, ..
  // CHECK-SAME: ([z_1z_2i]) {i=1, {{.*}}, z=1, z_1=3, z_2=4}>
  a.wide_rule = #sdy.op_sharding_rule<([i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,z_1,z_2])->([z_1z_2i]) {i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1,r=1,s=1,t=1,u=1,v=1,w=1,x=1,y=1,z=1,z_1=3,z_2=4}>
} {}

// Elements of lists may be written out in full, or by an alias; they print short.
#split = #sdy.sharding<@mesh, [{"z"}]>
module @in_full {
  sdy.mesh @mesh = <["x"=2, "y"=8, "z"=4]>
  // CHECK-LABEL: func.func @written_out
  func.func @written_out(%a: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"z"}]>]>
    %0:2 = "stablehlo.optimization_barrier"(%a, %a) {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{"x"}]>, #split]>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    // CHECK: in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"z"}]>] out_shardings=[<@mesh, [{"z"}]>]
    %1 = sdy.manual_computation(%0#0, %0#1) in_shardings=[#sdy.sharding<@mesh, [{"x"}]>, #split] out_shardings=[#split] manual_axes={} (%b: tensor<8xf32>, %c: tensor<8xf32>) {
      sdy.return %c : tensor<8xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
