// Broken kernels and programs are refused, each with what is wrong.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @sizes(%a: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{result 0 of type 'tensor<4xf32>' cannot overwrite operand 0}}
  %r = exec.fused(%x = %a : tensor<8xf32>) -> tensor<4xf32> attributes {inplace = array<i64: 0>} {
    %c = arith.constant dense<0.0> : tensor<4xf32>
    exec.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @yields(%a: tensor<8xf32>) -> tensor<4xf32> {
  %r = exec.fused(%x = %a : tensor<8xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{must yield the types of the results of exec.fused}}
    exec.yield %x : tensor<8xf32>
  }
  return %r : tensor<4xf32>
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  // expected-error @+1 {{is no part of its array}}
  %t = exec.buffer arena at 0 : tensor<8xf32> {array = array<i64: 0, 16, 1, 6>}
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  // expected-error @+1 {{covers bytes [64, 96) of a arena of 64 bytes}}
  %t = exec.buffer arena at 64 : tensor<8xf32>
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  // expected-error @+1 {{needs a reduction}}
  exec.start 0 all_reduce over "data" (%t) -> (%t)
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %u = exec.buffer arena at 0 : tensor<4xf32>
  // expected-error @+1 {{copies 32 bytes to 16}}
  exec.copy %t to %u
}

// -----

// What the runtime asks of inputs and outputs.
// expected-error @+1 {{input 0: 1 parts of 8 do not cover dimension 0 of size 16}}
exec.program @main arena 0 constants 0 inputs [#exec.param<name = "x", local = tensor<8xf32>, global = tensor<16xf32>>] outputs [] {
}

// -----

sdy.mesh @m = <["x"=2]>
// expected-error @+1 {{output 0: a program takes and returns whole values, none that are unreduced}}
exec.program @main mesh @m arena 0 constants 0 inputs [] outputs [#exec.param<name = "x", local = tensor<8xf32>, global = tensor<8xf32>, sharding = #sdy.sharding<@m, [{}], unreduced={"x"}>>] {
}

// -----

sdy.mesh @m = <["x"=2]>
// expected-error @+1 {{output 0: axis "x" is used twice}}
exec.program @main mesh @m arena 0 constants 0 inputs [] outputs [#exec.param<name = "x", local = tensor<4x4xf32>, global = tensor<8x8xf32>, sharding = #sdy.sharding<@m, [{"x"}, {"x"}]>>] {
}

// -----

exec.program @main arena 64 host 64 constants 0 inputs [] outputs [] {
  // expected-error @+1 {{names an argument outside of exec.function}}
  %t = exec.buffer argument 0 : tensor<8xf32>
}

// -----

exec.program @main arena 64 file 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %f = exec.buffer file at 0 : tensor<8xf32>
  // expected-error @+1 {{waits for a file; begin with exec.copy_start}}
  exec.copy %f to %t
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %p = exec.buffer arena at 32 : tensor<2xf32>
  %i = exec.buffer arena at 40 : tensor<i64>
  // expected-error @+1 {{takes an i32 as index, not 'tensor<i64>'}}
  exec.copy_start 0 %t to %p at %i step 4
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %p = exec.buffer arena at 32 : tensor<2xf32>
  %i = exec.buffer arena at 40 : tensor<i32>
  // expected-error @+1 {{goes in steps of 16 bytes through 32 and 8, which do not end together}}
  exec.copy_start 0 %t to %p at %i step 16
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %p = exec.buffer arena at 32 : tensor<2xf32>
  // expected-error @+1 {{needs an index and a step of at least one byte, or none of both}}
  exec.copy_start 0 %t to %p {step = 4 : i64}
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  // expected-error @+1 {{names no exec.function of its program: @f}}
  exec.call @f(%t) -> ()
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  exec.function @f reads [tensor<9xf32>] writes [] {
  }
  %t = exec.buffer arena at 0 : tensor<8xf32>
  // expected-error @+1 {{gives @f 'tensor<8xf32>' where it takes 'tensor<9xf32>'}}
  exec.call @f(%t) -> ()
}

// -----

// expected-error @+1 {{input 0: a caller's arrays lie in memory, not in a file}}
exec.program @main arena 64 constants 0
    inputs [#exec.param<name = "x", local = tensor<8xf32>, global = tensor<8xf32>, memory = file>] outputs [] {
}

// -----

// expected-error @+1 {{holds code as bytes (i8), not 'i32'}}
exec.image "cpu" for "x86-64" [] dense<0> : tensor<4xi32>

// -----

// expected-error@+1 {{has blocks of other than 1 to 1024 threads}}
exec.image "cuda" for "sm_90a" [] dense<0> : tensor<4xi8> {launches = [#exec.launch<threads = 2000>]}

// -----

// expected-error@+2 {{strides that are no multiples of 16 bytes}}
// expected-error@+1 {{failed to parse Exec_Launch parameter 'maps'}}
exec.image "cuda" for "sm_90a" [] dense<0> : tensor<4xi8> {launches = [#exec.launch<threads = 32, maps = [#exec.tensor_map<operand = 1, type = bf16, sizes = [64, 8], strides = [100], box = [64, 8]>]>]}

// -----

// expected-error@+2 {{a stride for each but the innermost}}
// expected-error@+1 {{failed to parse Exec_Launch parameter 'maps'}}
exec.image "cuda" for "sm_90a" [] dense<0> : tensor<4xi8> {launches = [#exec.launch<threads = 32, maps = [#exec.tensor_map<operand = 1, type = bf16, sizes = [64, 8], strides = [], box = [64, 8]>]>]}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  // expected-error @+1 {{has scratch in output 0 of 0}}
  exec.dispatch @panels(%t) -> (%t) scratch at 0 in output 0
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  // expected-error @+1 {{has scratch in what is no input or output}}
  exec.dispatch @panels(%t) -> (%t) scratch at 0 in constant 0
}
