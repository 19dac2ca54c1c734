// Strings that are none of Shardy's, and manual computations without their boundary, are errors at their place.
// RUN: tessera-opt %s --tessera-strings-to-sdy -verify-diagnostics -split-input-file

// expected-error@+1 {{xla.sdy.meshes in mhlo.frontend_attributes does not read as Shardy's}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2>}"}} {
}

// -----

// expected-error@+1 {{xla.sdy.meshes holds 2 : i64, no mesh}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = 2}"}} {
}

// -----

// expected-error@+1 {{xla.sdy.sharding in mhlo.frontend_attributes does not read as Shardy's: "rows"}}
func.func @main(%x: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "rows"}}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{xla.sdy.sharding in mhlo.frontend_attributes does not read as Shardy's: 3 : i64}}
  %0 = stablehlo.abs %x {mhlo.frontend_attributes = {xla.sdy.sharding = 3}} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{must be called between xla.sdy.GlobalToLocalShape and xla.sdy.LocalToGlobalShape}}
  %0 = call @xla.sdy.manual_computation_body(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @xla.sdy.manual_computation_body(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{xla.sdy.allowed_direction must be 0, 1 or 2}}
  %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%x) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "9 : i64"}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Operands in another order than the boundary gives them.
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // expected-error@+1 {{must be called between xla.sdy.GlobalToLocalShape and xla.sdy.LocalToGlobalShape}}
  %1 = call @xla.sdy.manual_computation_body(%0#1, %0#0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) : (tensor<4xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @xla.sdy.manual_computation_body(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// What it computes is read before the boundary, too.
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{must be called between xla.sdy.GlobalToLocalShape and xla.sdy.LocalToGlobalShape}}
  %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) : (tensor<4xf32>) -> tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<4xf32>
}
func.func private @xla.sdy.manual_computation_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{holds 0 shardings for 1 results}}
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[]>"}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{xla.sdy.sharding_group_id must be a number from 0 on, like 1 : i64, not 7 : ui64}}
  stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "7 : ui64"}} : (tensor<8xf32>) -> ()
  return %x : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{lacks xla.sdy.sharding_group_id}}
  stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true, mhlo.frontend_attributes = {}} : (tensor<8xf32>) -> ()
  return %x : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{xla.sdy.allowed_direction must be 0, 1 or 2}}
  %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%x) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "4294967297 : i64"}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  // expected-error@+1 {{'mesh' is a mesh in xla.sdy.meshes that it is not}}
  sdy.mesh @mesh = <["x"=4]>
}
