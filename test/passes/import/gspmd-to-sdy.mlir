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

// A value of the program's border can't be manual.
// expected-error@+1 {{is manual at the border of the program; such a value has no global meaning}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{manual}"}, %arg1: tensor<2xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{the sharding string holds '{devices=[9000000,9000000]<=[81000000000000]}', which is not supported}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[9000000,9000000]<=[81000000000000]}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{the sharding string holds '{devices=[0,2]}', which is not supported}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[0,2]}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{the sharding string holds 'last_tile_dims={unreduced}', which is not supported}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}

// -----

// Replication in several last dimensions; a tuple for several results; metadata; what any op says of its result; a device by itself;
// dimensions that propagation may shard.

// CHECK: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2]>
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
