// Compute ops outside of kernels, and control flow inside, are refused.
// RUN: tessera-opt %s --tessera-verify-fuse --split-input-file --verify-diagnostics

func.func @outside(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{is outside any kernel after the fuse phase}}
  %0 = stablehlo.exponential %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @inside(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = exec.fused(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @+1 {{cannot be part of a kernel}}
    %0 = comm.all_reduce sum(%a) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
