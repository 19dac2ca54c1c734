// RUN: tessera-opt %s --tessera-narrow-collectives | FileCheck %s
// Gathers move bf16 where that is what is read, or where it was.

sdy.mesh @mesh = <["x"=4, "y"=2, "one"=1]>
// CHECK-LABEL: @after
func.func @after(%x: tensor<2xf32>) -> tensor<8xbf16> {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xbf16>
  // CHECK-NEXT: comm.all_gather(%[[C]]) dim 0 over <@mesh, ["x"=4]> : (tensor<2xbf16>) -> tensor<8xbf16>
  // CHECK-NEXT: return
  %0 = comm.all_gather(%x) dim 0 over <@mesh, ["x"=4]> : (tensor<2xf32>) -> tensor<8xf32>
  %1 = stablehlo.convert %0 : (tensor<8xf32>) -> tensor<8xbf16>
  return %1 : tensor<8xbf16>
}

// CHECK-LABEL: @before
func.func @before(%x: tensor<2xbf16>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[G:.*]] = comm.all_gather(%arg0) {{.*}} -> tensor<8xbf16>
  // CHECK-NEXT: stablehlo.convert %[[G]] : (tensor<8xbf16>) -> tensor<8xf32>
  %0 = stablehlo.convert %x : (tensor<2xbf16>) -> tensor<2xf32>
  %1 = comm.all_gather(%0) dim 0 over <@mesh, ["x"=4]> : (tensor<2xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A reduction keeps its precision.
// CHECK-LABEL: @reduction
func.func @reduction(%x: tensor<2xf32>) -> tensor<2xbf16> {
  // CHECK-NEXT: comm.all_reduce sum(%arg0) {{.*}} -> tensor<2xf32>
  %0 = comm.all_reduce sum(%x) over <@mesh, ["x"=4]> : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xbf16>
  return %1 : tensor<2xbf16>
}
