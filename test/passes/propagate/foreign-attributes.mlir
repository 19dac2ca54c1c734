// Marks of other tools, on a program that was not imported: kept, and nobody's business.
// RUN: tessera-opt %s --tessera-propagate | FileCheck %s
// RUN: not tessera-opt %s --tessera-propagate --tessera-verify-propagate 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: error: attribute 'their.axes' is none that a phase reads
// CHECK: sdy.mesh @mesh = <["data"=4]> {their.axes = 1 : i64}
sdy.mesh @mesh = <["data"=4]> {their.axes = 1 : i64}

// CHECK: stablehlo.tanh {{.*}} {sdy.sharding = {{.*}}, their.number = 7 : i64}
func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x {their.number = 7 : i64} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
