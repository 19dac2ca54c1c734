// A device's own part is a dynamic slice at its coordinate; the coordinate is asked for once.
// RUN: tessera-opt %s --tessera-expand-slices | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[I:.*]] = comm.axis_index over <@mesh, ["x"=4]> : tensor<i32>
// CHECK-NOT: comm.
// CHECK: %[[S:.*]] = stablehlo.multiply %[[I]], %{{.*}} : tensor<i32>
// CHECK: stablehlo.dynamic_slice %arg0, %[[S]], %{{.*}}, sizes = [2, 4]
// CHECK: stablehlo.dynamic_slice %arg1, %{{.*}}, sizes = [4, 2]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %0 = comm.slice %a dim 0 over <@mesh, ["x"=4]> : (tensor<8x4xf32>) -> tensor<2x4xf32>
  %1 = comm.slice %b dim 1 over <@mesh, ["x"=4]> : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<4x2xf32>
}
