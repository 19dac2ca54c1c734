// A collective that is not split, and one that nobody waits for, are refused.
// RUN: tessera-opt %s --tessera-verify-order --split-input-file --verify-diagnostics

func.func @plain(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{is not split into comm.start and comm.wait}}
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @nobody(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{needs exactly one comm.wait on its handle}}
  %r, %h = comm.start all_reduce(%x) over <@mesh, ["x"=4]> {reduction = #comm<reduction sum>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
  return %x : tensor<8xf32>
}
