// Meshes and shardings that mean nothing are refused, each with what is wrong.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{two axes are named "x"}}
sdy.mesh @mesh = <["x"=2, "x"=4]>

// -----

// expected-error @+1 {{axis "x" must have a positive size}}
sdy.mesh @mesh = <["x"=0]>

// -----

// expected-error @+1 {{the axes make 4 devices, but there are 2 device ids}}
sdy.mesh @mesh = <["x"=4], device_ids=[1, 0]>

// -----

// expected-error @+1 {{device ids must be a permutation of 0 to 3}}
sdy.mesh @mesh = <["x"=4], device_ids=[0, 1, 2, 2]>

// -----

// expected-error @+1 {{device ids must be a permutation of 0 to 1}}
sdy.mesh @mesh = <["x"=2], device_ids=[3, 0]>

// -----

// expected-error @+1 {{argument 0: unknown mesh @nowhere; define it by sdy.mesh}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@nowhere, [{"x"}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error @+1 {{unknown axis "w"; the mesh has no axis of that name}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w"}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error @+1 {{axis "x" is used twice}}
func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error @+1 {{axes "x" and "x":(2)2 overlap}}
func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"x":(2)2}>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error @+1 {{the sharding has 1 dimensions, but the value has 2}}
func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=6]>
// expected-error @+1 {{sub-axis "x":(1)4 does not divide axis "x" of size 6}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error @+1 {{sub-axis "x":(1)4 is the whole axis; write "x"}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=8]>
// expected-error @+1 {{sub-axes "x":(1)2 and "x":(2)2 must be written as one}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "x":(2)2}]>}) { return }

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-error @+1 {{replicated axes must be in the order of the mesh: "x" before "y"}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"y", "x"}>}) { return }

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{a closed dimension without axes has nothing to propagate, hence no priority}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p1]>}) { return }

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{'sdy.sharding': 2 shardings for 1 values}}
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{the rule's operand 0 must have 1 dimensions}}
  %0 = stablehlo.tanh %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=8}>} : tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected 'replicated' or 'unreduced', each once at most}}
  %0 = sdy.reshard %a <@mesh, [{"x"}], shattered={"y"}> : tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected unreduced axes that are combined by sum, max or min, not by mean}}
  %0 = sdy.reshard %a <@mesh, [{"x"}], unreduced=mean{"y"}> : tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{expected '{'}}
  %0 = sdy.reshard %a <@mesh, [{"x"}], replicated=max{"y"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>
// expected-error@+1 {{sub-axis "x":(9223372036854775807)4 does not divide axis "x" of size 8}}
func.func @huge_pre_size(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(9223372036854775807)4}]>}) {
  return
}
