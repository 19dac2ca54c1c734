// Annotations hold: the closed one as it is, the open one with more axes at most.
// RUN: tessera plan %s -o %t.mlir --report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=MODULE < %t.mlir
// RUN: tessera plan %s --mesh=a=2,b=2 -o - | cmp - %t.mlir

// CHECK: 4 devices, mesh a=2,b=2
// CHECK: %x {{ *}}P(None, "b")
// CHECK: %w {{ *}}P({{"b"|\("b", "a"\)}}
// MODULE: %arg0: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@devices, [{}, {"b"}]>}
sdy.mesh @devices = <["a"=2, "b"=2]>
func.func public @main(%x: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@devices, [{}, {"b"}]>},
                       %w: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@devices, [{"b", ?}, {?}]>}) -> tensor<256x1024xf32> {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %a = stablehlo.tanh %h : tensor<256x1024xf32>
  return %a : tensor<256x1024xf32>
}
