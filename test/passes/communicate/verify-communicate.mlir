// RUN: tessera-opt %s --tessera-verify-communicate -split-input-file -verify-diagnostics
// Axes must be the mesh's, of its sizes, and groups more than one device.

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
func.func @size(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{axis "x" of mesh @mesh has size 4; this collective was made for another size}}
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=2]> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
func.func @name(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{mesh @mesh has no axis "z"}}
  %0 = comm.all_reduce sum(%x) over <@mesh, ["z"=2]> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
func.func @alone(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{is over one device only}}
  %0 = comm.all_reduce sum(%x) over <@mesh, ["one"=1]> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
