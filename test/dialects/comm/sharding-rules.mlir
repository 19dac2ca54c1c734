// What lies along the free axes of a manual computation stays there; only the dimensions that a collective splits or puts together are
// needed whole. Wrong would be: gathered along the free axes.
// RUN: tessera-opt %s --tessera-show-sharding-rules | FileCheck %s
// RUN: tessera-opt %s --tessera-propagate --tessera-reshard | FileCheck %s --check-prefix=RESHARD

sdy.mesh @mesh = <["a"=2, "b"=4]>

// RESHARD-LABEL: @main
// RESHARD: comm.all_reduce {{.*}}sum({{.*}}[<@mesh, [{}, {"b"}]>, <@mesh, [{"b"}, {}]>]
// RESHARD-NEXT: sdy.return
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>},
                %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}) -> (tensor<4x16xf32>, tensor<4x8xf32>) {
  %0:2 = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{"a"}, {?}]>, <@mesh, [{"a", ?}, {?}]>]
      out_shardings=[<@mesh, [{?}, {?}]>, <@mesh, [{?}, {?}]>] manual_axes={"a"} (%v: tensor<4x16xf32>, %w: tensor<4x8xf32>) {
    // CHECK: comm.all_reduce {{.*}}#sdy.op_sharding_rule<([i, j], [k, l])->([i, j], [k, l]) {i=4, j=16, k=4, l=8}>
    %1:2 = comm.all_reduce sum(%v, %w) over <@mesh, ["a"=2]> : (tensor<4x16xf32>, tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>)
    sdy.return %1#0, %1#1 : tensor<4x16xf32>, tensor<4x8xf32>
  } : (tensor<8x16xf32>, tensor<8x8xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>)
  return %0#0, %0#1 : tensor<4x16xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<4x16xf32>) {
  // CHECK: comm.all_gather({{.*}}<([i, j])->([i, k]) {i=4, j=16, k=32} need_replication={j, k}>
  %0 = comm.all_gather(%x) dim 1 over <@mesh, ["a"=2]> : (tensor<4x16xf32>) -> tensor<4x32xf32>
  // CHECK: comm.all_to_all({{.*}}<([i, k])->([j, l]) {i=4, j=2, k=16, l=32} need_replication={i, j, k, l}>
  %1 = comm.all_to_all(%x) split 0 concat 1 over <@mesh, ["a"=2]> : (tensor<4x16xf32>) -> tensor<2x32xf32>
  // CHECK: comm.shift({{.*}}<([i, j])->([i, j]) {i=4, j=16}>
  %2 = comm.shift(%x) by 1 over <@mesh, ["a"=2]> : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}
