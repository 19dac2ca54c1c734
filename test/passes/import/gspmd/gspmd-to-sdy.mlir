// RUN: tessera-opt %s --tessera-gspmd-to-sdy --split-input-file --verify-diagnostics | FileCheck %s

// Tile assignments of GSPMD fall on the axes of one mesh, the coarsest that fits them all.

// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=4]>
// CHECK: func.func @main(%arg0: tensor<8xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}]>},
// CHECK-SAME: %arg1: tensor<16x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_1"}, {}]>},
// CHECK-SAME: %arg2: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
// CHECK:   sdy.sharding_constraint %arg1 <@mesh, [{"axis_0", "axis_1"}, {}]>
// CHECK-NOT: mhlo.sharding
func.func @main(%arg0: tensor<8xi64> {mhlo.sharding = "{devices=[2,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"},
                %arg1: tensor<16x512xf32> {mhlo.sharding = "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"},
                %arg2: tensor<16xf32> {mhlo.sharding = "{replicated}"}) -> tensor<16x512xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg1) {mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<16x512xf32>) -> tensor<16x512xf32>
  return %0 : tensor<16x512xf32>
}

// -----

// The transposed short form: dimension 0 over the minor axis.

// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
// CHECK: #sdy.sharding<@mesh, [{"axis_1"}, {"axis_0"}]>
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0)}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// A value of the program's boundary can't be manual.
// expected-error@+1 {{is manual at the boundary of the program; such a value has no global meaning}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{manual}"}, %arg1: tensor<2xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{numbers of tiles must be positive, and make a million devices at most}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[9000000,9000000]<=[81000000000000]}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{numbers of tiles must be positive, and make a million devices at most}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[0,2]}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// What is left unreduced, beside what is replicated; by a transposed table, and over all axes.

// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2, "axis_2"=2]>
// CHECK: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"axis_0"}, {}], unreduced={"axis_1"}>]>}
// CHECK: stablehlo.tanh %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"axis_2"}, {}], unreduced={"axis_0", "axis_1"}>]>}
// CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {}], unreduced={"axis_0", "axis_1", "axis_2"}>
func.func @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.tanh %arg0 {mhlo.sharding = "{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}"} : tensor<4x4xf32>
  %1 = stablehlo.tanh %0 {mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dims={unreduced} metadata={op_name=\"x\"}}"} : tensor<4x4xf32>
  %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{unreduced}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// No mesh has axes for 2x3 and for 3x2 tiles, nor for devices in no order: several meshes.

// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=3]>
// CHECK: sdy.mesh @mesh_1 = <["axis_0"=3, "axis_1"=2]>
// CHECK: sdy.mesh @mesh_2 = <["axis_0"=6], device_ids=[0, 2, 1, 5, 4, 3]>
// CHECK: %arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1"}]>}
// CHECK: %arg1: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh_1, [{"axis_0"}, {"axis_1"}]>}
// CHECK: %arg2: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh_2, [{"axis_0"}, {}]>}
func.func @main(%arg0: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %arg1: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"},
                %arg2: tensor<6x6xf32> {mhlo.sharding = "{devices=[6,1]0,2,1,5,4,3}"}) -> tensor<6x6xf32> {
  return %arg0 : tensor<6x6xf32>
}

// -----

// What must be sharded alike becomes a group; what says nothing goes.

// CHECK: func.func @main(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>)
// CHECK: sdy.sharding_group %arg0 group_id=3
// CHECK: sdy.sharding_group %arg1 group_id=3
// CHECK: %0 = sdy.sharding_constraint %arg1
// CHECK: sdy.sharding_group %0 group_id=1
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{unknown}"}, %arg1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{unknown shard_as 3}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.custom_call @Sharding(%arg1) {mhlo.sharding = "{unknown shard_as 3}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{devices=[2,1]<=[2] shard_like 1}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Strings that name axes of a mesh of their own, in any order of devices, with parts, open dimensions, unreduced ones.

// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2, "axis_2"=2]>
// CHECK: %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1", ?}]>}
// CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"axis_0", "axis_2"}, {}], unreduced={"axis_1"}>
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2, ?}], metadata={op_name=\"x\"}}"}) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{mesh['x'=2,'y'=2,'z'=2], device_ids=([2,2,2]T(0,2,1)), [{'x', 'y'}, {}], replicated={}, unreduced={'z'}}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A program with shardings of sdy and a call that has a string: on its mesh, where that has the axes.

// CHECK: sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK-NOT: sdy.mesh
// CHECK: %0 = sdy.sharding_constraint %arg0 <@m, [{"y"}, {}]>
// CHECK: return %0
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>, mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Replication in several last dimensions; a tuple for several results; metadata; what any op says of its result; a device by itself;
// dimensions that propagation may shard.

// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
// CHECK: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK: func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {}]>}, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@maximal_mesh_3, []>})
// CHECK: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"axis_1"}]>]>}
// CHECK: stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"axis_0", "axis_1"}, {}]>, <@mesh, [{}, {}]>]>}
// CHECK: sdy.sharding_constraint {{.*}} <@mesh, [{"axis_0", ?}, {}]>
// CHECK-NOT: mhlo.sharding
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2,1]<=[4] last_tile_dims={replicated, replicated} metadata={op_name=\"x\"}}"},
                %arg1: tensor<f32> {mhlo.sharding = "{maximal device=3}"}) -> tensor<4x4xf32> {
  %0 = stablehlo.tanh %arg0 {mhlo.sharding = "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}"} : tensor<4x4xf32>
  %1:2 = stablehlo.optimization_barrier {mhlo.sharding = "{{devices=[4,1]<=[4]}, {replicated}}"} %0, %arg0 : tensor<4x4xf32>, tensor<4x4xf32>
  %2 = stablehlo.custom_call @Sharding(%1#0) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

func.func @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4x1xf32> {
  // expected-error@+1 {{a value keeps its rank where a manual region begins or ends, but 'tensor<8xf32>' becomes 'tensor<4x1xf32>'}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
