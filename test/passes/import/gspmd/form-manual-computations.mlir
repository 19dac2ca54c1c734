// What GSPMD's boundary calls enclose becomes a manual computation.
// RUN: tessera-opt %s --tessera-gspmd-to-sdy --tessera-form-manual-computations --split-input-file --verify-diagnostics | FileCheck %s

// In all axes: constants and the device number are asked for inside, a value from outside enters whole.
// CHECK-LABEL: func.func @all
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1
// CHECK: %[[OUT:.*]] = sdy.manual_computation(%{{.*}}, %[[B]]) in_shardings=[<@mesh, [{"axis_0"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"axis_0"}, {}]>] manual_axes={"axis_0"} (%[[X:.*]]: tensor<2x4xf32>, %[[S:.*]]: tensor<2x4xf32>) {
// CHECK:   stablehlo.constant
// CHECK:   stablehlo.partition_id
// CHECK:   stablehlo.add %[[X]]
// CHECK:   stablehlo.add {{.*}}, %[[S]]
// CHECK:   sdy.return
// CHECK: return %[[OUT]]
// CHECK-NOT: tessera.
func.func @all(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}, %s: tensor<4xf32>) -> tensor<8x4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<2x4xf32>
  %id = stablehlo.partition_id : tensor<ui32>
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.add %1, %one : tensor<2x4xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %c = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
  %d = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
  %3 = stablehlo.multiply %2, %d : tensor<2x4xf32>
  %4 = stablehlo.add %3, %b : tensor<2x4xf32>
  %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{manual}"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = stablehlo.custom_call @SPMDShardToFullShape(%5) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return %6 : tensor<8x4xf32>
}

// -----

// In one axis of two; two regions one after the other are two computations.
// CHECK-LABEL: func.func @some
// CHECK: sdy.manual_computation({{.*}}) in_shardings=[<@mesh, [{"axis_0"}, {}]>] out_shardings=[<@mesh, [{"axis_0"}, {}]>] manual_axes={"axis_0"} ({{.*}}: tensor<4x4xf32>) {
// CHECK-NEXT: stablehlo.tanh
// CHECK: stablehlo.negate
// CHECK: sdy.manual_computation({{.*}}) in_shardings=[<@mesh, [{"axis_0"}, {}]>] out_shardings=[<@mesh, [{"axis_0"}, {}]>] manual_axes={"axis_0"} ({{.*}}: tensor<4x4xf32>) {
// CHECK-NEXT: stablehlo.exponential
func.func @some(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> tensor<8x4xf32> {
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.tanh %1 : tensor<4x4xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  %5 = stablehlo.negate %4 : tensor<8x4xf32>
  %6 = stablehlo.custom_call @Sharding(%5) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %7 = stablehlo.custom_call @SPMDFullToShardShape(%6) {mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %8 = stablehlo.exponential %7 : tensor<4x4xf32>
  %9 = stablehlo.custom_call @Sharding(%8) {mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = stablehlo.custom_call @SPMDShardToFullShape(%9) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return %10 : tensor<8x4xf32>
}

// -----

// A region that nothing leaves by @SPMDShardToFullShape.
func.func @stays(%x: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) -> tensor<4x4xf32> {
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.tanh %1 : tensor<4x4xf32>
  // expected-error@+1 {{takes a value of a manual region that has not left it by @SPMDShardToFullShape}}
  return %2 : tensor<4x4xf32>
}

// -----

// Boundaries on several meshes: what crosses whole goes with the others; where they are cut otherwise there is no one region.
// CHECK-LABEL: func.func @meshes
// CHECK: sdy.manual_computation(%{{.*}}, %{{.*}}) in_shardings=[<@mesh_1, [{}]>, <@mesh_1, [{"axis_0"}]>] out_shardings=[<@mesh_1, [{"axis_0"}]>] manual_axes={"axis_0", "axis_1"}
func.func @meshes(%a: tensor<2xf32>, %b: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %c: tensor<6xf32> {mhlo.sharding = "{devices=[3,2]<=[6] last_tile_dim_replicate}"}) -> tensor<6xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%a) {mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%c) {mhlo.sharding = "{manual}"} : (tensor<6xf32>) -> tensor<2xf32>
  %2 = stablehlo.add %0, %1 : tensor<2xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[3,2]<=[6] last_tile_dim_replicate}"} : (tensor<2xf32>) -> tensor<6xf32>
  return %3 : tensor<6xf32>
}

// -----

func.func @two_meshes(%a: tensor<6xf32> {mhlo.sharding = "{devices=[2,3]<=[6] last_tile_dim_replicate}"}, %b: tensor<9xf32> {mhlo.sharding = "{devices=[3,2]<=[6] last_tile_dim_replicate}"}) -> tensor<6xf32> {
  // expected-error@+1 {{this boundary of a manual region does not say the sharding that it crosses, or is manual in other axes than the region's first}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%a) {mhlo.sharding = "{manual}"} : (tensor<6xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%b) {mhlo.sharding = "{manual}"} : (tensor<9xf32>) -> tensor<3xf32>
  %2 = stablehlo.add %0, %1 : tensor<3xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[3,2]<=[6] last_tile_dim_replicate}"} : (tensor<3xf32>) -> tensor<9xf32>
  %4 = stablehlo.slice %3 [0:6] : (tensor<9xf32>) -> tensor<6xf32>
  return %4 : tensor<6xf32>
}
