// RUN: tessera-opt %s --tessera-fold-collectives | FileCheck %s
// Pairs of collectives that one or none replaces.

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
// CHECK-LABEL: @scatter
func.func @scatter(%x: tensor<8xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: comm.reduce_scatter sum(%arg0) dim 0 over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<2xf32>
  // CHECK-NEXT: return
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = comm.slice %0 dim 0 over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @nothing
func.func @nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %arg0
  %0 = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<32xf32>
  %1 = comm.slice %0 dim 0 over <@mesh, ["x"=4]> : (tensor<32xf32>) -> tensor<8xf32>
  %2 = comm.all_reduce sum(%1) over <@mesh, ["one"=1]> : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: @used_twice
func.func @used_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  // CHECK-NEXT: comm.all_reduce
  // CHECK-NEXT: comm.slice
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = comm.slice %0 dim 0 over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<8xf32>, tensor<2xf32>
}
