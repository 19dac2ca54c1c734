// A kernel without code, and axes that are not of the program's mesh, cannot be written.
// RUN: tessera-opt %s --tessera-verify-package --split-input-file --verify-diagnostics

// expected-error @+1 {{is not compiled; run --tessera-codegen before packaging}}
exec.kernel @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
  exec.yield %x : tensor<8xf32>
}
exec.program @main arena 0 constants 0 inputs [] outputs [] {
}

// -----

exec.program @main arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<i32>
  // expected-error @+1 {{needs axes of the program's mesh}}
  exec.coordinate "x" to %t
}
