// RUN: tessera-opt %s --tessera-import | FileCheck %s

// The whole phase: calls, chlo and device numbers are gone, the loop is counted, constants are made once.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func public @main
// CHECK-COUNT-1: stablehlo.constant dense<1> : tensor<i32>
// CHECK:         stablehlo.while
// CHECK-SAME:    tessera.trip_count = #tessera.trip_count<30>
// CHECK:           stablehlo.multiply
// CHECK:         sdy.manual_computation
// CHECK:           comm.axis_index over <@mesh, ["x"=4]> : tensor<i32>
// CHECK-NEXT:      stablehlo.reshape %{{.*}} : (tensor<i32>) -> tensor<1xi32>
// CHECK-NOT:   func.func
func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<30> : tensor<i32>
  %0:3 = stablehlo.while(%a = %x, %i = %zero, %bound = %n) : tensor<4xf32>, tensor<i32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %bound, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1:2 = func.call @step(%a, %i) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
    stablehlo.return %1#0, %1#1, %bound : tensor<4xf32>, tensor<i32>, tensor<i32>
  }
  %2 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} () {
    %one = stablehlo.constant dense<1> : tensor<ui32>
    %four = stablehlo.constant dense<4> : tensor<ui32>
    %id = stablehlo.partition_id : tensor<ui32>
    %d = stablehlo.divide %id, %one : tensor<ui32>
    %r = stablehlo.remainder %d, %four : tensor<ui32>
    %s = stablehlo.convert %r : (tensor<ui32>) -> tensor<i32>
    %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
    sdy.return %v : tensor<1xi32>
  } : () -> tensor<4xi32>
  return %0#0, %2 : tensor<4xf32>, tensor<4xi32>
}
func.func private @step(%a: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = chlo.square %a : tensor<4xf32> -> tensor<4xf32>
  %1 = stablehlo.add %i, %one : tensor<i32>
  return %0, %1 : tensor<4xf32>, tensor<i32>
}
