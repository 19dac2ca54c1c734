// Shardy's annotations in strings, as JAX's artifacts had them before StableHLO 1.11. Wrong would be: a program without its shardings.
// RUN: tessera-opt %s --tessera-strings-to-sdy --split-input-file | FileCheck %s

// Quotes are escaped twice there; the manual computation's attributes stand on the call.
// CHECK: sdy.mesh @mesh = <["rows"=2, "columns"=2]>
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22rows\\\22=2, \\\22columns\\\22=2]>}"}} {
  // CHECK: @main(%arg0: tensor<8x4xf32>{{.*}} sdy.sharding = #sdy.sharding<@mesh, [{"rows", ?}p1, {}]>
  // CHECK-SAME: -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"columns"}, {}]>})
  func.func @main(%x: tensor<8x4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\\22rows\\\22, ?}p1, {}]>"}}) -> tensor<8x4xf32> {
    // CHECK: %[[C:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"rows"}, {}]>
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\\22rows\\\22}, {}]>]>"}, mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // CHECK: %[[M:.*]] = sdy.manual_computation(%[[C]]) in_shardings=[<@mesh, [{"rows"}, {}]>] out_shardings=[<@mesh, [{"rows"}, {}]>] manual_axes={"rows"} (%[[A:.*]]: tensor<4x4xf32>) {
    // CHECK: %[[R:.*]] = func.call @xla.sdy.manual_computation_body(%[[A]])
    // CHECK: sdy.return %[[R]]
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %2 = func.call @xla.sdy.manual_computation_body(%1) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22rows\\\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22rows\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22rows\\\22}, {}]>]>"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2) : (tensor<4x4xf32>) -> tensor<8x4xf32>
    // CHECK-NOT: custom_call
    // CHECK: return %[[M]]
    %4 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%3) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\\22columns\\\22}, {}]>]>"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }
  func.func @xla.sdy.manual_computation_body(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.negate %x : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// On the calls around it, one in the other, with the names that XLA's inlining makes; and what else has a call of its own.
// CHECK: sdy.mesh @mesh = <["x"=2, "y"=2]>
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2, \22y\22=2]>}"}} {
  // CHECK-LABEL: @nested
  func.func @nested(%x: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: stablehlo.negate {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>
    %0 = stablehlo.negate %x {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}]>]>", xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i])->([i]) {i=8}>"}} : tensor<8xf32>
    // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction=FORWARD
    %1 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i64"}} : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: sdy.sharding_group %{{.*}} group_id=7
    stablehlo.custom_call @xla.sdy.ShardingGroup(%1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "7 : i64"}} : (tensor<8xf32>) -> ()
    // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
    %2 = stablehlo.custom_call @local_xla.sdy.GlobalToLocalShape(%1) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<4xf32>
    %3 = func.call @local_xla.sdy.manual_computation_body_0(%2) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.custom_call @local_xla.sdy.LocalToGlobalShape(%3) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<4xf32>) -> tensor<8xf32>
    return %4 : tensor<8xf32>
  }
  // CHECK: @local_xla.sdy.manual_computation_body_0
  func.func private @local_xla.sdy.manual_computation_body_0(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: sdy.manual_computation(%arg0) {{.*}} manual_axes={"y"} (%{{.*}}: tensor<2xf32>)
    // CHECK: call @local_xla.sdy.manual_computation_body_1
    %0 = stablehlo.custom_call @local_xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22y\22}>"}} : (tensor<4xf32>) -> tensor<2xf32>
    %1 = func.call @local_xla.sdy.manual_computation_body_1(%0) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = stablehlo.custom_call @local_xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22y\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}]>]>"}} : (tensor<2xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @local_xla.sdy.manual_computation_body_1(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.abs %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
