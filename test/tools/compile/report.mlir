// The report: collectives with their figures and source locations, memory, devices. 8 x 16 values of f32 on two devices
// are multiplied along the sharded dimension: one all-reduce of the 8 x 4 result, 2 (g - 1) / g of its bytes on the wire.
// RUN: tessera compile %s -o %t.tsr --report=- | FileCheck %s
// CHECK: "collectives": [
// CHECK: "axes": "x"
// CHECK: "bytes": 128
// CHECK: "count": 1
// CHECK: "kind": "all-reduce"
// CHECK: "location": "{{.*}}report.mlir:[[#@LINE+12]]:{{[0-9]+}}"
// CHECK: "trips": 1
// CHECK: "wire_bytes": 128
// CHECK: "devices": 2
// CHECK: "flops":
// CHECK: "memory": {
// CHECK: "arguments": 384
// CHECK: "outputs": 128
// CHECK: "name": "parse"
// CHECK: "name": "package"
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
