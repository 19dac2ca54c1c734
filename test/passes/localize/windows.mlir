// RUN: tessera-opt %s --tessera-localize | FileCheck %s
// A window of 3 by steps of 2: shard 1 sees one row of shard 0's neighbour; rows outside are the start value.

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @main
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: comm.shift(%{{.*}}) by -1 over <@mesh, ["y"=2]> : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK: %[[M:.*]] = stablehlo.select %{{.*}} : tensor<5xi1>, tensor<5xf32>
  // CHECK: "stablehlo.reduce_window"(%[[M]]
  // CHECK: (tensor<5xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Sources beyond the ends are what changes no product. Wrong would be the start value, once more for each of them.
// CHECK-LABEL: @products
func.func @products(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %s: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},
                    %i: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: %[[NONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<3xf32>
  // CHECK: %[[SOURCES:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[NONE]]
  // CHECK: "stablehlo.select_and_scatter"(%{{.*}}, %[[SOURCES]],
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Of integers, each may be the lowest there is: what was selected is known by its number, and rows beyond the ends have none.
// Wrong would be a value in their place, which a real row of the same value loses to; or a gather.
// CHECK-LABEL: @integers
func.func public @integers(%x: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %s: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},
                           %i: tensor<i32>) -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK-NOT: comm.all_gather
  // CHECK: %[[NUMBER:.*]] = stablehlo.select %[[THERE:.*]], %{{.*}}, %{{.*}} : tensor<7xi1>, tensor<7xi32>
  // CHECK: %[[SELECTED:.*]]:2 = "stablehlo.reduce_window"(%{{.*}}, %[[NUMBER]], %{{.*}}, %{{.*}})
  // CHECK: stablehlo.select %{{.*}}, %[[SELECTED]]#1, %{{.*}} : tensor<3xi1>, tensor<3xi32>
  // CHECK: "stablehlo.scatter"
  // CHECK: stablehlo.slice %{{.*}} [2:6] : (tensor<7xi32>) -> tensor<4xi32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xi32>, tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}


// A start that is still in parts: each device's windows begin with its own part, not with all of it.
// CHECK-LABEL: @parts
func.func public @parts(%x: tensor<5xi32>, %i: tensor<i32>) -> tensor<5xi32> {
  %0 = sdy.reshard %x <@mesh, [{}], unreduced={"x"}> : tensor<5xi32>
  %1 = sdy.reshard %i <@mesh, [], unreduced={"x"}> : tensor<i32>
  // CHECK: %[[X:.*]] = stablehlo.select %{{.*}}, %arg0
  // CHECK: %[[I:.*]] = stablehlo.select %{{.*}}, %arg1
  // CHECK-NOT: comm.all_reduce
  // CHECK: %[[W:.*]] = "stablehlo.reduce_window"(%[[X]], %[[I]])
  // CHECK: comm.all_reduce sum(%[[W]])
  %2 = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 5>, padding = dense<[[4, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
  %3 = sdy.reshard %2 <@mesh, [{}]> : tensor<5xi32>
  return %3 : tensor<5xi32>
}
