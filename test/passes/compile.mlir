// All phases: of an annotated program, the two kernels and the collective that one device runs, with the kernels' code.
// RUN: tessera-opt %s --tessera-compile | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK: exec.kernel @dot_general_0(%arg0: tensor<4x4xf32>, %arg1: tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: exec.kernel @tanh_0
// CHECK: exec.program @main mesh @mesh
// CHECK: exec.dispatch @dot_general_0
// CHECK: exec.start 0 all_reduce sum over #comm.axes<@mesh, ["x"=2]>
// CHECK: exec.wait 0
// CHECK: exec.dispatch @tanh_0
// CHECK: exec.image "cpu" for "{{.+}}" [{{.*}}] dense_resource<
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %w: tensor<8x6xf32>)
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.tanh %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
