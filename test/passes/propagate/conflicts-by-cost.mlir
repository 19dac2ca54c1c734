// Two operands of one size want the axis for different dimensions: what is cheaper to gather yields. In the larger tensor's favour only by
// bytes, not by its elements: the left operand has as many elements, but an eighth of the bytes.
// RUN: tessera-opt %s --tessera-propagate | FileCheck %s

module attributes {tessera.topology = #tessera.topology<beta = 1.0e+08>} {
  sdy.mesh @mesh = <["x"=4]>
  // CHECK-LABEL: @bytes
  func.func @bytes(%a: tensor<256x256xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                   %b: tensor<256x256xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<256x256xf64> {
    // CHECK: stablehlo.dot_general {{.*}}[<@mesh, [{}, {"x"}]>]
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x256xi8>, tensor<256x256xf64>) -> tensor<256x256xf64>
    return %0 : tensor<256x256xf64>
  }
  // Nothing to choose by: the first operand, as Shardy has it.
  // CHECK-LABEL: @equal
  func.func @equal(%a: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                   %b: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<256x256xf32> {
    // CHECK: stablehlo.dot_general {{.*}}[<@mesh, [{"x"}, {}]>]
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %0 : tensor<256x256xf32>
  }
}
