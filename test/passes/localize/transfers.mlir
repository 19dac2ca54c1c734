// Values are resharded in the device's memory: before they go to the host, and behind where they come from there.
// RUN: tessera-opt %s --tessera-localize-program --split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func public @main
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK:         %[[H:.*]] = comm.transfer to  host(%[[X]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[D:.*]] = comm.transfer to  device(%[[H]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    comm.all_gather(%[[D]])
func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = comm.transfer to host (%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x4xf32>
  %2 = comm.transfer to device (%1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
