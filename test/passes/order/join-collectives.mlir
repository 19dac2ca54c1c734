// Gathers of small weights that start one after the other are one message; so are reduce-scatters.
// RUN: tessera-opt %s --tessera-overlap-collectives --tessera-verify-order | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @gathers
// CHECK: comm.start all_gather(%arg0, %arg1) over <@mesh, ["x"=4]> {dim = 0 : i64} : (tensor<8xf32>, tensor<2x4xf32>) -> (tensor<32xf32>, tensor<8x4xf32>, !comm.handle)
// CHECK-NOT: comm.start
// CHECK: return
func.func @gathers(%x: tensor<8xf32>, %y: tensor<2x4xf32>) -> (tensor<32xf32>, tensor<8x4xf32>) {
  %0 = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<32xf32>
  %1 = comm.all_gather(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return %0, %1 : tensor<32xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: func.func @scatters
// CHECK: comm.start reduce_scatter(%arg0, %arg1)
// CHECK-NOT: comm.start
// CHECK: return
func.func @scatters(%x: tensor<8xf32>, %y: tensor<12xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0 = comm.reduce_scatter sum(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<8xf32>) -> tensor<2xf32>
  %1 = comm.reduce_scatter sum(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<12xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<2xf32>, tensor<3xf32>
}

// Another dimension, element type or reduction is another message; what the first brings, the second may need.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-5: comm.start
// CHECK: return
func.func @apart(%x: tensor<8x8xf32>, %y: tensor<8x8xbf16>) -> (tensor<8x32xf32>, tensor<32x8xbf16>, tensor<8x8xf32>, tensor<128x8xf32>) {
  %0 = comm.all_gather(%x) dim 1 over <@mesh, ["x"=4]> : (tensor<8x8xf32>) -> tensor<8x32xf32>
  %1 = comm.all_gather(%y) dim 0 over <@mesh, ["x"=4]> : (tensor<8x8xbf16>) -> tensor<32x8xbf16>
  %2 = comm.all_reduce max(%x) over <@mesh, ["x"=4]> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<8x8xf32>) -> tensor<32x8xf32>
  %4 = comm.all_gather(%3) dim 0 over <@mesh, ["x"=4]> : (tensor<32x8xf32>) -> tensor<128x8xf32>
  return %0, %1, %2, %4 : tensor<8x32xf32>, tensor<32x8xbf16>, tensor<8x8xf32>, tensor<128x8xf32>
}
