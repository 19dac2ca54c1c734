// For every axis of every value: the annotation it came from.
// RUN: tessera-opt %s --tessera-print-sharding-origins -o /dev/null | FileCheck %s
// RUN: tessera-opt %s --tessera-propagate-shardings=record-origins | FileCheck %s --check-prefix=NOTES

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK: argument 0: "x" as annotated
// CHECK: stablehlo.dot_general: "x" from argument 0, through 1 op
// CHECK: stablehlo.dot_general: "y" from argument 1, through 1 op
// CHECK: stablehlo.tanh: "x" from argument 0, through 2 ops
// CHECK: stablehlo.tanh: "y" from argument 1, through 2 ops
// NOTES: func.func @main({{.*}}tessera.origin = #tessera.origin<["\22x\22 as annotated"]>
// NOTES: stablehlo.dot_general {{.*}} tessera.origin = #tessera.origin<["\22x\22 from argument 0, through 1 op", "\22y\22 from argument 1, through 1 op"]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// Where an op's tensors disagree, it says who wants what.
// NOTES-LABEL: @conflict
// NOTES: stablehlo.dot_general {{.*}} tessera.conflict = #tessera.conflict<["\22x\22 along a factor of 8: operand 1 has it; result 0 uses it in another dimension"]>
func.func @conflict(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                    %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
