// Each wrong annotation is one error line (of a group, which has members annotated otherwise, a warning) at the place in the user's source, with what is wrong and how to mend it.
// RUN: split-file %s %t
// RUN: not tessera compile %t/axis.mlir -o %t.tsr 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not tessera compile %t/twice.mlir -o %t.tsr 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not tessera compile %t/rank.mlir -o %t.tsr 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not tessera compile %t/part.mlir -o %t.tsr 2>&1 | FileCheck %s --check-prefix=PART
// RUN: tessera compile %t/group.mlir -o %t.tsr 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not tessera compile %t/manual.mlir -o %t.tsr 2>&1 | FileCheck %s --check-prefix=MANUAL
// RUN: not tessera compile %t/outer.mlir -o %t.tsr 2>&1 | FileCheck %s --check-prefix=OUTER

// AXIS: error: train.py:3:7: {{.*}}unknown axis "z"; the mesh has no axis of that name
// TWICE: error: train.py:4:7: {{.*}}axis "x" is used twice
// RANK: error: train.py:5:7: {{.*}}the sharding has 1 dimensions, but the value has 2
// PART: error: train.py:6:7: {{.*}}sub-axis "x":(1)3 does not divide axis "x" of size 4
// GROUP: warning: train.py:7:7: stays as it is annotated, #sdy.sharding<@mesh, [{}, {"x"}]>, unlike the others of its sharding group, #sdy.sharding<@mesh, [{"x"}, {}]>; give all of them one sharding, or take this value out of the group
// MANUAL: error: train.py:8:7: {{.*}}operand 0: has type 'tensor<4x4xf32>' inside, but the sharding makes it 'tensor<2x4xf32>'
// OUTER: error: train.py:9:7: {{.*}}axis "x" is manual already in an enclosing computation

//--- axis.mlir
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}]>]>} : tensor<8x4xf32> loc("train.py":3:7)
  return %0 : tensor<8x4xf32>
}
//--- twice.mlir
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"x"}]> : tensor<8x4xf32> loc("train.py":4:7)
  return %0 : tensor<8x4xf32>
}
//--- rank.mlir
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8x4xf32> loc("train.py":5:7)
  return %0 : tensor<8x4xf32>
}
//--- part.mlir
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x":(1)3}, {}]> : tensor<8x4xf32> loc("train.py":6:7)
  return %0 : tensor<8x4xf32>
}
//--- group.mlir
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32> loc("train.py":6:7)
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x4xf32> loc("train.py":7:7)
  sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
//--- manual.mlir
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x4xf32>) {
    sdy.return %b : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("train.py":8:7)
  return %0 : tensor<8x4xf32>
}
//--- outer.mlir
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x4xf32>) {
    %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x"} (%c: tensor<2x1xf32>) {
      sdy.return %c : tensor<2x1xf32>
    } : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("train.py":9:7)
    sdy.return %1 : tensor<2x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
