// RUN: tessera-opt %s -split-input-file -verify-diagnostics
// What the verifiers refuse.

func.func @indivisible(%x: tensor<7xf32>) {
  // expected-error @+1 {{dimension 0 of 'tensor<7xf32>' does not divide by the group of 2; pad it first}}
  %0 = comm.reduce_scatter sum(%x) dim 0 over <@mesh, ["data"=2]> : (tensor<7xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @wrong_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{result type must be 'tensor<8xf32>', not 'tensor<4xf32>'}}
  %0 = comm.all_gather(%x) dim 0 over <@mesh, ["data"=2]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @repeated_target(%x: tensor<4xf32>) {
  // expected-error @+1 {{pair (1, 0) repeats a source or a target}}
  %0 = comm.permute(%x) pairs [0, 0, 1, 0] over <@mesh, ["data"=2]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @axis_twice(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis "data" is named twice}}
  %0 = comm.all_reduce sum(%x) over <@mesh, ["data"=4, "data":(2)2]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @used_before_wait(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{results may be used by comm.wait only}}
  %0, %h = comm.start all_reduce(%x) over <@mesh, ["data"=4]> {reduction = #comm<reduction sum>} : (tensor<4xf32>) -> (tensor<4xf32>, !comm.handle)
  return %0 : tensor<4xf32>
}

// -----

func.func @missing_attribute(%x: tensor<4xf32>) {
  // expected-error @+1 {{must have exactly the attributes of all_gather}}
  %0, %h = comm.start all_gather(%x) over <@mesh, ["data"=4]> : (tensor<4xf32>) -> (tensor<16xf32>, !comm.handle)
  return
}
