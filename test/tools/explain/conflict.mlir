// A conflict, the collective it causes, and the annotation that would remove it: with the weight whole
// on every device, nothing is gathered.
// RUN: tessera explain %s | FileCheck %s

// CHECK: all-gather over x
// CHECK-NEXT: why: %b lies as [{}, {"x"}] ("x" as annotated) and is needed as [{}, {}] by %0 = dot_general
// CHECK-SAME: "x" along a factor of 64: operand 1 has it; result 0 uses it in another dimension
// CHECK: try: argument %b with P(None, None) at {{.*}}: 100% less time to move, 100% fewer bytes
// CHECK: Conflicts
// CHECK: %0 {{.*}}dot_general

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<256x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                       %b: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x128xf32>, tensor<128x64xf32>) -> tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}
