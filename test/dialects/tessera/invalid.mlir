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

// expected-error @+1 {{topology: 'beta' must be a number from 1 to 1e30, such as 1e9, found 1.000000e-01}}
module attributes {tessera.topology = #tessera.topology<beta = 0.1>} {}

// -----

// expected-error @+1 {{topology: 'alpha' must be a number from 0 to 1e30, such as 1e-6, found 1.000000e+00 : f32}}
module attributes {tessera.topology = #tessera.topology<axes = {x = {alpha = 1.0 : f32}}>} {}

// -----

// expected-error @+1 {{topology: 'x' of 'axes' must be an object, found 1.000000e+00}}
module attributes {tessera.topology = #tessera.topology<axes = {x = 1.0}>} {}

// -----

// expected-error @+1 {{topology: no member 'bta' here}}
module attributes {tessera.topology = #tessera.topology<axes = {x = {bta = 1.0}}>} {}

// -----

// A kind that nothing is counted by would price all work at nothing.
// expected-error @+1 {{topology: no kind of work 'processors' is known, in 'kernels'}}
module attributes {tessera.topology = #tessera.topology<kernels = {processors = 1.320000e+02}>} {}

// -----

// expected-error @+1 {{topology: 'q9' of 'flops_by_type' is no element type, such as bf16}}
module attributes {tessera.topology = #tessera.topology<flops_by_type = {q9 = 1.0e+12}>} {}

// -----

// expected-error @+1 {{topology: no memory 'moon' is known, in 'spaces': there are device and host}}
module attributes {tessera.topology = #tessera.topology<spaces = {moon = {bytes = 8.0}}>} {}

// -----

// expected-error @+1 {{topology: 'processors' must be a whole number}}
module attributes {tessera.topology = #tessera.topology<processors = 1.5>} {}

// -----

// expected-error @+1 {{topology: 'directions' must be 1 or 2}}
module attributes {tessera.topology = #tessera.topology<directions = 1.5>} {}

// -----

// expected-error @+1 {{topology: 'directions' must be 1 or 2}}
module attributes {tessera.topology = #tessera.topology<directions = 3.0>} {}

// -----

// expected-error @+1 {{topology: the devices of level 'rack' must be a multiple of those of 'host'}}
module attributes {tessera.topology = #tessera.topology<levels = [{name = "host", devices = 8.0}, {name = "rack", devices = 12.0}]>} {}

// -----

// expected-error @+1 {{topology: level 'host' must say how many devices it has: only the last may have all}}
module attributes {tessera.topology = #tessera.topology<levels = [{name = "host"}, {name = "pod"}]>} {}

// -----

// expected-error @+1 {{topology: a member that is there twice}}
module attributes {tessera.topology = #tessera.topology<alpha = 1.0, alpha = 2.0>} {}

// -----

// expected-error @+1 {{'most' is no overlap; there are auto, on, off}}
module attributes {tessera.schedule = #tessera.schedule<overlap = most>} {}

// -----

// expected-error @+1 {{a device has memory of a byte or more, not 0}}
module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 0>} {}

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

// -----

// expected-error @+1 {{--target=tpu: no such target; use --target=cpu or --target=shadow or --target=cuda}}
module attributes {tessera.target = #tessera.target<tpu, <"v5", vector_bits = 128>>} {}

// -----

// expected-error @+1 {{target 'cpu' needs a processor, such as <"x86-64-v3", vector_bits = 256>}}
module attributes {tessera.target = #tessera.target<cpu>} {}

// -----

// expected-error @+1 {{'tessera.target' must be a #tessera.target, not #tessera.processor<"x86-64", vector_bits = 128>}}
module attributes {tessera.target = #tessera.processor<"x86-64", vector_bits = 128>} {}

// -----

// expected-error @+1 {{'tessera.target' goes on the module}}
func.func @main() attributes {tessera.target = #tessera.target<cpu, <"x86-64", vector_bits = 128>>} { return }

// -----

// expected-error @+1 {{'tessera.shape' must be a tensor of static shape, not tensor<?xf32>}}
func.func @main(%x: tensor<?xf32> {tessera.shape = tensor<?xf32>}) { return }

// -----

// expected-error @+1 {{'tessera.shape' goes on an argument of a function}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {tessera.shape = tensor<4xf32>}) { return %x : tensor<4xf32> }

// -----

// expected-error @+1 {{'tessera.global' must be a tensor of static shape, not f32}}
func.func @main(%x: tensor<4xf32> {tessera.global = f32}) { return }

// -----

// expected-error @+1 {{'tessera.global' goes on an argument or result of a function}}
func.func @main() attributes {tessera.global = tensor<4xf32>} { return }

// -----

// expected-error @+1 {{'tessera.explain' must be a unit, not true}}
module attributes {tessera.explain = true} {}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.asked_for' goes on sdy.reshard}}
  %0 = stablehlo.negate %x {tessera.asked_for} : tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{a line of an explanation is a string, not 1 : i64}}
  %0 = stablehlo.negate %x {tessera.origin = #tessera.origin<[1]>} : tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.conflict' must be a #tessera.conflict, not ["a"]}}
  %0 = stablehlo.negate %x {tessera.conflict = ["a"]} : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.boundary' goes on stablehlo.custom_call}}
  %0 = stablehlo.negate %x {tessera.boundary = #tessera.boundary<sharding = #sdy.sharding<@mesh, [{"x"}]>, manual_axes = #sdy<manual_axes{"x"}>>} : tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.scratch' must be a number of bytes in i64, not -1 : i64}}
  %0 = exec.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {tessera.scratch = -1 : i64} {
    exec.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tessera.scratch' goes on exec.fused}}
  %0 = stablehlo.negate %x {tessera.scratch = 8 : i64} : tensor<4xf32>
  return
}
