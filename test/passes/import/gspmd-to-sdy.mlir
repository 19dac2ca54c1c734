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

// expected-error@+1 {{the sharding string holds 'manual', which is not supported; annotate with sdy shardings instead}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{manual}"}) -> tensor<4x4xf32> {
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

// expected-error@+1 {{the sharding string holds 'last_tile_dims={manual}', which is not supported}}
func.func @main(%arg0: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dims={manual}}"}) -> tensor<4x4xf32> {
  return %arg0 : tensor<4x4xf32>
}
