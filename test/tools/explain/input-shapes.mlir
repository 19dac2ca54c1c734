// Shapes of dynamic arguments are given as to compile.
// RUN: tessera explain %s --input-shapes=in0:8x4xf32 | FileCheck %s
// RUN: not tessera explain %s --input-shapes=in0:8x5xf32 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: tessera explain --help | FileCheck %s --check-prefix=HELP
// CHECK: 2 devices, mesh @m: x=2
// WRONG: error: {{.*}}input-shapes.mlir:{{[0-9:]+}} --input-shapes: 'in0:8x5xf32': does not fit argument 0
// HELP: --html=FILE
// HELP: --input-shapes=LIST  shapes of arguments that have dynamic ones
sdy.mesh @m = <["x"=2]>
func.func public @main(%a: tensor<?x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<?x4xf32> {
  %0 = stablehlo.tanh %a : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
