// A conflict, the collective it causes, and the annotation that removes it: with the weight whole on
// every device, nothing is gathered. The program with that annotation is written, and needs no other.
// RUN: tessera explain %s --all --mended=%t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=MENDED < %t.mlir
// RUN: tessera explain %t.mlir --value=%%arg1 | FileCheck %s --check-prefix=AGAIN
// RUN: tessera explain %t.mlir --mended=%t2.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: cmp %t.mlir %t2.mlir

// CHECK: #1 all-gather over x at {{.*}}conflict.mlir
// CHECK: why: %b lies as [{}, {"x"}] ("x" as annotated) and is needed as [{}, {}] by %0 = dot_general
// CHECK-SAME: "x" along a factor of 64: operand 1 has it; result 0 uses it in another dimension
// CHECK-NEXT: mend: argument %b with P(None, None) instead of P(None, "x")
// CHECK: Conflicts
// CHECK: %0 {{.*}}dot_general
// MENDED-NOT: tessera
// MENDED: %arg1: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
// AGAIN: sharding [{}, {}]
// NONE: remark: {{.*}}: no change was found that saves time; {{.*}}2.mlir is the program as it was
// NONE: a step predicted

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<256x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                       %b: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x128xf32>, tensor<128x64xf32>) -> tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}
