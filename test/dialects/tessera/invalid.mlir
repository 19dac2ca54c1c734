// RUN: tessera-opt %s -split-input-file -verify-diagnostics
// What the dialect refuses: a mark that nobody reads, one that has another type, one where it says nothing. Silence would be
// a decision that is made without what another phase found out.

// expected-error @+1 {{'tessera.topolgy' is no mark of the tessera dialect}}
module attributes {tessera.topolgy = #tessera.topology<>} {}

// -----

// expected-error @+1 {{'tessera.topology' must be a #tessera.topology, not {beta = 1.000000e+10 : f64}}}
module attributes {tessera.topology = {beta = 1.0e+10}} {}

// -----

// expected-error @+1 {{'tessera.topology' goes on the module}}
func.func @main() attributes {tessera.topology = #tessera.topology<>} { return }

// -----

// expected-error @+1 {{topology: 'beta' must be a number from 1 to 1e30, such as 1e9, found 1.000000e-01 : f64}}
module attributes {tessera.topology = #tessera.topology<beta = 0.1>} {}

// -----

// expected-error @+2 {{failed to parse Tessera_TopologyAttr parameter 'axes'}}
// expected-error @+1 {{topology: 'alpha' must be a number from 0 to 1e30, such as 1e-6, found 1.000000e+00 : f32}}
module attributes {tessera.topology = #tessera.topology<axes = {x = #tessera.link<alpha = 1.0 : f32>}>} {}

// -----

// expected-error @+1 {{topology: axis "x" must have a link {alpha = .., beta = ..}}}
module attributes {tessera.topology = #tessera.topology<axes = {x = 1.0}>} {}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.partial' must be a #tessera.partial, not "max"}}
  %0 = stablehlo.negate %x {tessera.partial = "max"} : tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mean' is no way to combine parts; there are product, max, min, and, or}}
  %0 = stablehlo.negate %x {tessera.partial = #tessera.partial<mean>} : tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{parts that are added have no mark}}
  %0 = stablehlo.negate %x {tessera.partial = #tessera.partial<sum>} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'tessera.partial' goes on an operation with results}}
func.func @main(%x: tensor<4xf32> {tessera.partial = #tessera.partial<max>}) { return }

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.partial' goes on an operation with results}}
  return {tessera.partial = #tessera.partial<max>}
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.trip_count' goes on stablehlo.while}}
  %0 = stablehlo.negate %x {tessera.trip_count = #tessera.trip_count<3>} : tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.trip_count' must be a #tessera.trip_count, not 3 : i64}}
  %0 = stablehlo.negate %x {tessera.trip_count = 3} : tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{a loop runs 0 times or more, not -1}}
  %0 = stablehlo.negate %x {tessera.trip_count = #tessera.trip_count<-1>} : tensor<4xf32>
  return
}
