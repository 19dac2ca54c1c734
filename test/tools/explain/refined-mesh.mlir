// A mesh that reshard has cut finer, for a manual computation on another one; annotations in its words are not tried on the program.
// RUN: tessera explain %s 2>&1 | FileCheck %s
// RUN: tessera compile %s -o %t.tsr --report=%t.json 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// CHECK: 6 devices, mesh @a: x_0=3, x_1=2
// REMARK: remark: {{.*}}refined-mesh.mlir:[[# @LINE + 3]]:1: mesh @b cuts the devices as no axes of mesh @a do: its devices are renumbered, so that "p" is "x_0", "q" is "x_1"
// REPORT: "devices": 6
sdy.mesh @a = <["x"=6]>
sdy.mesh @b = <["p"=3, "q"=2], device_ids=[3, 5, 2, 4, 0, 1]>
func.func public @main(%a: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) -> (tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@a, [{}, {"x":(3)2}]>}) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@b, [{"q"}, {"p"}]>] out_shardings=[<@b, [{"q"}, {"p"}]>] manual_axes={"q"} (%l: tensor<6x12xf32>) {
    %2 = stablehlo.negate %l : tensor<6x12xf32>
    sdy.return %2 : tensor<6x12xf32>
  } : (tensor<12x12xf32>) -> tensor<12x12xf32>
  return %1 : tensor<12x12xf32>
}
