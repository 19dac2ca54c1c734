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
