// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// Every comm op prints and parses back; shapes follow from the group's size.

// CHECK-LABEL: func @collectives
func.func @collectives(%x: tensor<8x4xf32>, %y: tensor<8xi32>) -> tensor<8x4xf32> {
  // CHECK: comm.all_reduce sum(%{{.*}}) over <@mesh, ["data"=2, "model":(2)2]> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = comm.all_reduce sum(%x) over <@mesh, ["data"=2, "model":(2)2]> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: comm.all_reduce max(%{{.*}}, %{{.*}}) over
  %1:2 = comm.all_reduce max(%0, %y) over <@mesh, ["data"=2]> : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<8x4xf32>, tensor<8xi32>)
  // CHECK: comm.reduce_scatter sum(%{{.*}}) dim 0 over {{.*}} -> tensor<4x4xf32>
  %2 = comm.reduce_scatter sum(%1#0) dim 0 over <@mesh, ["data"=2]> : (tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK: comm.all_to_all(%{{.*}}) split 1 concat 0 over {{.*}} -> tensor<16x1xf32>
  %3 = comm.all_to_all(%2) split 1 concat 0 over <@mesh, ["model"=4]> : (tensor<4x4xf32>) -> tensor<16x1xf32>
  // CHECK: comm.shift(%{{.*}}) by -1 wrap over
  %4 = comm.shift(%3) by -1 wrap over <@mesh, ["model"=4]> : (tensor<16x1xf32>) -> tensor<16x1xf32>
  // CHECK: comm.shift(%{{.*}}) by 1 over
  %5 = comm.shift(%4) by 1 over <@mesh, ["model"=4]> : (tensor<16x1xf32>) -> tensor<16x1xf32>
  // CHECK: comm.permute(%{{.*}}) pairs [0, 1, 1, 0] over
  %6 = comm.permute(%5) pairs [0, 1, 1, 0] over <@mesh, ["data"=2]> : (tensor<16x1xf32>) -> tensor<16x1xf32>
  // CHECK: comm.broadcast(%{{.*}}) over
  %7 = comm.broadcast(%6) over <@mesh, ["data"=2]> : (tensor<16x1xf32>) -> tensor<16x1xf32>
  // CHECK: comm.slice %{{.*}} dim 0 over {{.*}} : (tensor<16x1xf32>) -> tensor<8x1xf32>
  %8 = comm.slice %7 dim 0 over <@mesh, ["data"=2]> : (tensor<16x1xf32>) -> tensor<8x1xf32>
  // CHECK: comm.axis_index over <@mesh, ["data"=2, "model"=4]> : tensor<i32>
  %9 = comm.axis_index over <@mesh, ["data"=2, "model"=4]> : tensor<i32>
  // CHECK: %[[S:.*]], %[[H:.*]] = comm.start all_gather(%{{.*}}) over <@mesh, ["model"=4]> {dim = 1 : i64}
  %10, %h = comm.start all_gather(%8) over <@mesh, ["model"=4]> {dim = 1 : i64} : (tensor<8x1xf32>) -> (tensor<8x4xf32>, !comm.handle)
  // CHECK: comm.wait %[[H]](%[[S]])
  %11 = comm.wait %h(%10) : tensor<8x4xf32>
  return %11 : tensor<8x4xf32>
}
