// RUN: tessera-opt %s --tessera-explain-reshards -o /dev/null 2>&1 | FileCheck %s
sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK: all-gather, 2048 wire bytes, 1 trips
// CHECK: all-to-all, 1536 wire bytes, 1 trips
// CHECK: reshards send 3584 wire bytes in all
func.func @main(%a: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<64x16xf32>, tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<64x16xf32>
  %1 = sdy.reshard %b <@mesh, [{}, {"y"}]> : tensor<64x32xf32>
  return %0, %1 : tensor<64x16xf32>, tensor<64x32xf32>
}
