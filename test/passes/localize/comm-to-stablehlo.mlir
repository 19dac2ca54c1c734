// RUN: tessera-opt %s --tessera-comm-to-stablehlo | FileCheck %s
// Groups along axes become lists of replicas; what only Tessera reads is gone.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-NOT: sdy.mesh
// CHECK: @main(%[[X:.*]]: tensor<4xf32>)
func.func public @main(%x: tensor<4xf32> {tessera.global = tensor<16xf32>}) -> tensor<4xf32> {
  // CHECK: "stablehlo.all_reduce"(%[[X]])
  // CHECK-SAME: replica_groups = dense<{{\[}}[0, 2, 4, 6], [1, 3, 5, 7]]>
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.collective_permute"
  // CHECK-SAME: source_target_pairs = dense<{{\[}}[0, 1], [2, 3], [4, 5], [6, 7]]>
  %1 = comm.shift(%0) by 1 over <@mesh, ["y"=2]> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.replica_id
  // CHECK: stablehlo.dynamic_slice
  %2 = comm.slice %1 dim 0 over <@mesh, ["y"=2]> : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.all_gather"
  %3 = comm.all_gather(%2) dim 0 over <@mesh, ["y"=2]> : (tensor<2xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
