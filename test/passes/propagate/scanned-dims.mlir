// Arrays that a loop goes along, an element a trip (ScannedDims.h). Sharded along that dimension, as they come, each trip would be computed by all
// devices alike; where it takes less time they are sharded along another one inside of the loop.
// RUN: tessera-opt %s --tessera-propagate-shardings | FileCheck %s

sdy.mesh @mesh = <["d"=4]>

// What propagation gives the batch, in microbatches: each in shards.
// CHECK-LABEL: @microbatches
func.func @microbatches(%x: tensor<256x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %g = stablehlo.constant dense<0.0> : tensor<128x128xf32>
  // CHECK: stablehlo.reshape {{.*}}<@mesh, [{"d", ?}, {?}, {?}]>
  %xs = stablehlo.reshape %x : (tensor<256x128xf32>) -> tensor<4x64x128xf32>
  // CHECK: stablehlo.while
  // CHECK-SAME: [<@mesh, [{}, {"d", ?}, {?}]>
  %r:4 = stablehlo.while(%b = %xs, %p = %w, %i = %zero, %s = %g) : tensor<4x64x128xf32>, tensor<128x128xf32>, tensor<i32>, tensor<128x128xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = stablehlo.dynamic_slice %b, %i, %zero, %zero, sizes = [1, 64, 128] : (tensor<4x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
    %m = stablehlo.reshape %y : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    // CHECK: stablehlo.dot_general {{.*}}<@mesh, [{"d", ?}, {?}]>
    %h = stablehlo.dot_general %m, %p, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
    %t = stablehlo.tanh %h : tensor<64x128xf32>
    %q = stablehlo.dot_general %m, %t, contracting_dims = [0] x [0] : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
    %u = stablehlo.add %s, %q : tensor<128x128xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %b, %p, %j, %u : tensor<4x64x128xf32>, tensor<128x128xf32>, tensor<i32>, tensor<128x128xf32>
  }
  return %r#3 : tensor<128x128xf32>
}

// Where no other dimension can be divided, a small array is gathered, once; one that is read as a whole as well stays as it is.
// CHECK-LABEL: @odd
func.func @odd(%x: tensor<4x63xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %z: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>})
    -> (tensor<63xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.constant dense<0.0> : tensor<63xf32>
  %v = stablehlo.constant dense<0.0> : tensor<64xf32>
  // CHECK: stablehlo.while
  // CHECK-SAME: [<@mesh, [{}, {?}]>, <@mesh, [{"d", ?}, {?}]>
  %r:5 = stablehlo.while(%b = %x, %a = %z, %i = %zero, %k = %s, %l = %v) : tensor<4x63xf32>, tensor<4x64xf32>, tensor<i32>, tensor<63xf32>, tensor<64xf32> attributes {tessera.trip_count = #tessera.trip_count<4>}
  cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = stablehlo.dynamic_slice %b, %i, %zero, sizes = [1, 63] : (tensor<4x63xf32>, tensor<i32>, tensor<i32>) -> tensor<1x63xf32>
    %m = stablehlo.reshape %y : (tensor<1x63xf32>) -> tensor<63xf32>
    %n = stablehlo.add %k, %m : tensor<63xf32>
    %o = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 64] : (tensor<4x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %p = stablehlo.reshape %o : (tensor<1x64xf32>) -> tensor<64xf32>
    %q = stablehlo.reduce(%a init: %f) applies stablehlo.add across dimensions = [0] : (tensor<4x64xf32>, tensor<f32>) -> tensor<64xf32>
    %t = stablehlo.add %p, %q : tensor<64xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %b, %a, %j, %n, %t : tensor<4x63xf32>, tensor<4x64xf32>, tensor<i32>, tensor<63xf32>, tensor<64xf32>
  }
  return %r#3, %r#4 : tensor<63xf32>, tensor<64xf32>
}

// What a loop puts together of single elements each trip would be sent element by element; gathered before it, or sharded along another dimension, nothing is.
// CHECK-LABEL: @stacked
func.func @stacked(%x: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"d"}]>}, %v: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) -> (tensor<8x2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<50> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: stablehlo.while
  // CHECK-SAME: [<@mesh, []>, <@mesh, [{"d", ?}, {}]>, <@mesh, [{}]>]
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %u = %v) : tensor<i32>, tensor<8x2xf32>, tensor<2xf32> attributes {tessera.trip_count = #tessera.trip_count<50>}
  cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a = stablehlo.slice %y [0:8, 0:1] : (tensor<8x2xf32>) -> tensor<8x1xf32>
    %b = stablehlo.slice %y [0:8, 1:2] : (tensor<8x2xf32>) -> tensor<8x1xf32>
    %n = stablehlo.negate %a : tensor<8x1xf32>
    %z = stablehlo.concatenate %b, %n, dim = 1 : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x2xf32>
    %s = stablehlo.add %y, %z : tensor<8x2xf32>
    %d = stablehlo.slice %u [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %e = stablehlo.slice %u [1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %f = stablehlo.multiply %d, %e : tensor<1xf32>
    %g = stablehlo.concatenate %e, %f, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %s, %g : tensor<i32>, tensor<8x2xf32>, tensor<2xf32>
  }
  return %r#1, %r#2 : tensor<8x2xf32>, tensor<2xf32>
}
