// RUN: tessera-opt %s --tessera-bucket-collectives | FileCheck %s
// Small independent reductions over one group travel together; one that needs another's result does not.

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
// CHECK-LABEL: @three
func.func @three(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) {
  // CHECK: %[[R:.*]]:2 = comm.all_reduce sum(%arg0, %arg1) over <@mesh, ["x"=4]> : (tensor<8xf32>, tensor<4xf32>)
  // CHECK: stablehlo.tanh %[[R]]#0
  // CHECK: comm.all_reduce sum(%{{.*}}) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = comm.all_reduce sum(%y) over <@mesh, ["x"=4]> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.tanh %0 : tensor<8xf32>
  %3 = comm.all_reduce sum(%2) over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %3 : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
}

// Large ones go alone: their time is bytes.
// CHECK-LABEL: @large
func.func @large(%x: tensor<1048576xf32>, %y: tensor<1048576xf32>) -> (tensor<1048576xf32>, tensor<1048576xf32>) {
  // CHECK-COUNT-2: comm.all_reduce sum(%{{[^,]*}}) over
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %1 = comm.all_reduce sum(%y) over <@mesh, ["x"=4]> : (tensor<1048576xf32>) -> tensor<1048576xf32>
  return %0, %1 : tensor<1048576xf32>, tensor<1048576xf32>
}
