// Programs that read what is not there, or overwrite what is needed, are refused.
// RUN: tessera-opt %s --tessera-verify-memory --split-input-file --verify-diagnostics

exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
  exec.yield %x : tensor<8xf32>
}
exec.program @unwritten arena 64 constants 0 inputs [] outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<8xf32>
  // expected-error @+1 {{reads bytes [0, 32) that nothing has written}}
  exec.dispatch @exp(%t) -> (%y)
}

// -----

exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
  exec.yield %x : tensor<8xf32>
}
exec.program @overwrites arena 64 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  exec.dispatch @exp(%x) -> (%t)
  // expected-error @+1 {{writes output 0 over input 0, which it still reads}}
  exec.dispatch @exp(%t) -> (%t)
}

// -----

exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
  exec.yield %x : tensor<8xf32>
}
exec.program @argument arena 0 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>, #exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %y = exec.buffer input 1 : tensor<8xf32>
  // expected-error @+1 {{writes an input that is not donated}}
  exec.dispatch @exp(%x) -> (%y)
}

// -----

exec.program @flight arena 128 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %u = exec.buffer arena at 64 : tensor<8xf32>
  exec.start 0 all_reduce sum over "x" (%x) -> (%t)
  // expected-error @+1 {{reads the result of site 0 before its exec.wait}}
  exec.copy %t to %u
  exec.wait 0
}

// -----

// expected-error @+1 {{does not write all of output 0}}
exec.program @missing arena 0 constants 0 inputs [] outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
}

// -----

exec.program @sends arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  exec.receive 0 @c -> (%t)
  // expected-error @+1 {{reads the result of site 0 before its exec.wait}}
  exec.send 1 @c (%t)
}

// -----

exec.program @function arena 64 constants 0 inputs [] outputs [] {
  // expected-error @+1 {{does not write all of argument 0}}
  exec.function @f reads [] writes [tensor<8xf32>] {
  }
}

// -----

exec.program @calls arena 64 constants 0 inputs [] outputs [] {
  exec.function @f reads [tensor<8xf32>] writes [tensor<8xf32>] {
    %a = exec.buffer argument 0 : tensor<8xf32>
    %b = exec.buffer argument 1 : tensor<8xf32>
    exec.copy %a to %b
  }
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %u = exec.buffer arena at 32 : tensor<8xf32>
  // expected-error @+1 {{reads bytes [0, 32) that nothing has written}}
  exec.call @f(%t) -> (%u)
}

// -----

// A temporary may lie in an output until the output is written, not behind that.
exec.program @output_in_use arena 0 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [#exec.param<name = "", local = tensor<16xf32>, global = tensor<16xf32>>, #exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %t = exec.buffer output 0 at 0 : tensor<8xf32>
  %u = exec.buffer output 0 at 32 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<16xf32>
  %z = exec.buffer output 1 : tensor<8xf32>
  exec.copy %x to %t
  exec.copy %t to %u
  exec.copy %t to %z
  exec.copy %y to %y
  exec.copy %x to %t
  // expected-error @+1 {{reads bytes [0, 64) that nothing has written}}
  exec.copy %y to %y
}

// -----

// expected-error @+1 {{does not write all of output 0}}
exec.program @output_destroyed arena 0 constants 0 inputs [#exec.param<name = "", local = tensor<16xf32>, global = tensor<16xf32>>, #exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [#exec.param<name = "", local = tensor<16xf32>, global = tensor<16xf32>>] {
  %x = exec.buffer input 0 : tensor<16xf32>
  %s = exec.buffer input 1 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<16xf32>
  %t = exec.buffer output 0 at 0 : tensor<8xf32>
  exec.copy %x to %y
  exec.copy %s to %t
}

// -----

exec.program @next_trip arena 64 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>, #exec.param<name = "", local = tensor<16xf32>, global = tensor<16xf32>>] outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %z = exec.buffer input 1 : tensor<16xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %u = exec.buffer arena at 0 : tensor<16xf32>
  %y = exec.buffer output 0 : tensor<8xf32>
  exec.copy %x to %t
  exec.loop 2 {
    // expected-error @+1 {{reads bytes [0, 32) that nothing has written}}
    exec.copy %t to %y
    exec.copy %z to %u
    exec.copy %u to %u
  }
}

// -----

exec.program @gather_in_place arena 64 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  exec.copy %x to %t
  // expected-error @+1 {{writes result 0 over operand 0, which others still read}}
  exec.start 0 permute over "x" (%t) -> (%t)
  exec.wait 0
}

// -----

exec.program @reduce_in_place arena 64 constants 0 inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] outputs [] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  exec.copy %x to %t
  exec.start 0 all_reduce sum over "x" (%t) -> (%t)
  exec.wait 0
}

// -----

// Scratch in a result that is written later, and in one that is there already.
exec.kernel @panels(%x: tensor<8xf32>) -> tensor<8xf32> attributes {scratch_bytes = 32 : i64} {
  exec.yield %x : tensor<8xf32>
}
exec.program @scratch arena 64 constants 0
    inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>]
    outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<8xf32>
  exec.dispatch @panels(%x) -> (%t) scratch at 0 in output 0
  exec.dispatch @panels(%t) -> (%y)
}

// -----

exec.kernel @panels(%x: tensor<8xf32>) -> tensor<8xf32> attributes {scratch_bytes = 32 : i64} {
  exec.yield %x : tensor<8xf32>
}
// expected-error @+1 {{does not write all of output 0}}
exec.program @lost arena 64 constants 0
    inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>]
    outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<8xf32>
  exec.dispatch @panels(%x) -> (%y)
  exec.dispatch @panels(%x) -> (%t) scratch at 0 in output 0
}

// -----

exec.kernel @panels(%x: tensor<8xf32>) -> tensor<8xf32> attributes {scratch_bytes = 32 : i64} {
  exec.yield %x : tensor<8xf32>
}
exec.program @same arena 0 constants 0
    inputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>]
    outputs [#exec.param<name = "", local = tensor<8xf32>, global = tensor<8xf32>>] {
  %x = exec.buffer input 0 : tensor<8xf32>
  %y = exec.buffer output 0 : tensor<8xf32>
  // expected-error @+1 {{has scratch where an operand lies}}
  exec.dispatch @panels(%x) -> (%y) scratch at 0 in output 0
}
