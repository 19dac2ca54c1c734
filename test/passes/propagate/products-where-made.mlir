// A product that is partial keeps the axes of its operands, and moves when it is summed up, where that sends less than gathering what is
// partial, and the time is lost in the program's. Wrong would be: more bytes than with Shardy, which does so always.
// RUN: tessera-opt %s --tessera-propagate --split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: @among_much
func.func @among_much(%a: tensor<8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                      %b: tensor<8x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                      %c: tensor<65536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<65536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // CHECK: stablehlo.dot_general {{.*}}[<@mesh, [{"y"}]>]
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8xbf16>, tensor<8x16xbf16>) -> tensor<16xbf16>
  // CHECK: stablehlo.convert {{.*}}[<@mesh, [{"x"}]>]
  %1 = stablehlo.convert %0 : (tensor<16xbf16>) -> tensor<16xf32>
  return %1, %c : tensor<16xf32>, tensor<65536xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Alone it would take longer.
// CHECK-LABEL: @alone
func.func @alone(%a: tensor<8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                 %b: tensor<8x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: stablehlo.dot_general {{.*}}[<@mesh, [{"x"}]>]
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8xbf16>, tensor<8x16xbf16>) -> tensor<16xbf16>
  %1 = stablehlo.convert %0 : (tensor<16xbf16>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
