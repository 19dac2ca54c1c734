// Size in devices is free: for equal local shapes, the device program and the native code are the same for 8 and for
// 4,096 devices, but for the sizes of the mesh and of the global shapes. The weights are in parts on the axis of the batch.
// RUN: tessera-opt %s --tessera-compile > %t.8.mlir
// RUN: sed 's/"data"=8/"data"=4096/; s/16x32/8192x32/g' %s > %t.many.mlir
// RUN: tessera-opt %t.many.mlir --tessera-compile > %t.4096.mlir
// RUN: sed 's/"data"=4096/"data"=8/g; s/8192x32/16x32/g' %t.4096.mlir > %t.undone.mlir
// RUN: diff %t.8.mlir %t.undone.mlir
// RUN: FileCheck %s < %t.8.mlir
// CHECK: exec.kernel
// CHECK: exec.dispatch
// CHECK: exec.start
sdy.mesh @mesh = <["data"=8]>
func.func @main(%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %y: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<32x32xf32>) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<32x32xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.tanh %0 : tensor<16x32xf32>
  %2 = stablehlo.dot_general %1, %y, contracting_dims = [0] x [0] : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  return %1, %2 : tensor<16x32xf32>, tensor<32x32xf32>
}
