// RUN: tessera-opt %s --tessera-split-reductions | FileCheck %s
// Reductions of several dimensions by a region of no kind reduce each shard first, innermost dimension first.

module attributes {tessera.topology = #tessera.topology<alpha = 0.0, beta = 1.0e+06>} {
sdy.mesh @mesh = <["x"=4, "y"=2]>

// The composition of maps x -> m x + c: which comes before which counts. 8 x 100 elements become 8 x 4, one of each shard; they
// move to where rows are whole.
// CHECK-LABEL: @inner
func.func @inner(%m: tensor<8x100xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
                 %c: tensor<8x100xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<i32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[M:.*]] = stablehlo.reshape %arg0 {{.*}}[{"y"}, {"x"}, {}]>{{.*}} -> tensor<8x4x25xi32>
  // CHECK: %[[C:.*]] = stablehlo.reshape %arg1
  // CHECK: %[[PARTS:.*]]:2 = stablehlo.reduce(%[[M]] init: %{{.*}}), (%[[C]] init: %{{.*}}) across dimensions = [2]
  // CHECK-SAME: [{"y"}, {"x"}]>
  // CHECK: %[[MOVED:.*]] = sdy.reshard %[[PARTS]]#0 <@mesh, [{"y", "x"}, {}]>
  // CHECK: sdy.reshard %[[PARTS]]#1 <@mesh, [{"y", "x"}, {}]>
  // CHECK: stablehlo.reduce(%[[MOVED]] init: {{.*}} across dimensions = [0, 1]
  %0:2 = stablehlo.reduce(%m init: %one), (%c init: %zero) across dimensions = [0, 1]
      : (tensor<8x100xi32>, tensor<8x100xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    reducer(%a: tensor<i32>, %d: tensor<i32>) (%b: tensor<i32>, %e: tensor<i32>) {
      %1 = stablehlo.multiply %a, %d : tensor<i32>
      %2 = stablehlo.multiply %a, %e : tensor<i32>
      %3 = stablehlo.add %2, %b : tensor<i32>
      stablehlo.return %1, %3 : tensor<i32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<i32>, tensor<i32>
}

// Rows that the last shard lacks are start values.
// CHECK-LABEL: @uneven
func.func @uneven(%x: tensor<8x99xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: stablehlo.pad %arg0, %[[ZERO:.*]], low = [0, 0], high = [0, 1]
  // CHECK: stablehlo.reshape {{.*}} -> tensor<8x4x25xi32>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0, 1] : (tensor<8x99xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %1 = stablehlo.compare EQ, %a, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %2 = stablehlo.select %1, %b, %a : tensor<i1>, tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }
  return %0 : tensor<i32>
}

// The first of the reduced dimensions may be sharded as it is.
// CHECK-LABEL: @first
// CHECK-NOT: reshape
func.func @first(%x: tensor<100x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0, 1] : (tensor<100x8xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %1 = stablehlo.compare EQ, %a, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %2 = stablehlo.select %1, %b, %a : tensor<i1>, tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }
  return %0 : tensor<i32>
}

// A sum and a maximum are two reductions, whose parts are combined in any order.
// CHECK-LABEL: @two_kinds
func.func @two_kinds(%x: tensor<8x100xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: stablehlo.reduce(%arg0 init: %{{.*}}) across dimensions = [0, 1]
  // CHECK: stablehlo.add
  // CHECK: stablehlo.reduce(%arg0 init: %{{.*}}) across dimensions = [0, 1]
  // CHECK: stablehlo.maximum
  %0:2 = stablehlo.reduce(%x init: %zero), (%x init: %zero) across dimensions = [0, 1]
      : (tensor<8x100xi32>, tensor<8x100xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    reducer(%a: tensor<i32>, %d: tensor<i32>) (%b: tensor<i32>, %e: tensor<i32>) {
      %1 = stablehlo.add %a, %d : tensor<i32>
      %2 = stablehlo.maximum %b, %e : tensor<i32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<i32>, tensor<i32>
}
}
