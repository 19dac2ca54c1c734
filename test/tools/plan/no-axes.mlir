// Annotations on a mesh without axes, or of one device, are none that a plan could hold to.
// RUN: not tessera plan %s -o %t.mlir 2>&1 | FileCheck %s
// RUN: sed 's/<\[\]>/<[], device_ids=[1]>/; s/\[{}, {}\]/[]/' %s > %t.one.mlir
// RUN: not tessera plan %t.one.mlir -o %t.mlir 2>&1 | FileCheck %s
// CHECK: error: {{.*}}.mlir: its annotations are on mesh @nowhere, which has no axes to plan for; take them out
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @nowhere = <[]>
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@nowhere, [{}, {}]>}) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
}
