// The batch is split, the small weight is not; propagation completes what was planned.
// RUN: tessera-opt %s --tessera-import --tessera-plan-shardings=mesh=x=8 | FileCheck %s
// RUN: tessera-opt %s --tessera-import --tessera-plan-shardings=mesh=x=8 --tessera-propagate | FileCheck %s --check-prefix=ALL
// RUN: tessera-opt %s --tessera-import --tessera-plan-shardings=mesh=x=8 > %t.a
// RUN: tessera-opt %s --tessera-import --tessera-plan-shardings=mesh=x=8 > %t.b
// RUN: cmp %t.a %t.b
// RUN: not tessera-opt %s --tessera-import --tessera-plan-shardings=mesh=x 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not tessera-opt %s --tessera-import --tessera-plan-shardings 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: sdy.mesh @mesh = <["x"=8]>
// CHECK: @main(%arg0: tensor<4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK-SAME: -> (tensor<4096x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK-NOT: sharding_constraint
// ALL: stablehlo.dot_general{{.*}}sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// ALL: stablehlo.tanh{{.*}}sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// WRONG: error: mesh=x: 'x' is no axis and its size; write axes as data=2,model=4
// NONE: error: mesh=: '' is no axis and its size
func.func public @main(%x: tensor<4096x64xf32>, %w: tensor<64x64xf32>) -> tensor<4096x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x64xf32>, tensor<64x64xf32>) -> tensor<4096x64xf32>
  %1 = stablehlo.tanh %0 : tensor<4096x64xf32>
  return %1 : tensor<4096x64xf32>
}
