// RUN: tessera-opt %s --tessera-defer-reductions | FileCheck %s
sdy.mesh @mesh = <["data"=2, "model"=4]>

// The sum of two partial values is reduced once.
// CHECK-LABEL: @one_reduction
func.func @one_reduction(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                         %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<128x32xf32> {
  // CHECK: %[[P:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[Q:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[P]], %[[Q]] {{.*}}unreduced={"model"}
  // CHECK-NEXT: %[[R:.*]] = sdy.reshard %[[S]] <@mesh, [{}, {}]>
  // CHECK-NEXT: return %[[R]]
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"model"}>]>}
      : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  %a = sdy.reshard %p <@mesh, [{}, {}]> : tensor<128x32xf32>
  %q = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"model"}>]>}
      : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  %b = sdy.reshard %q <@mesh, [{}, {}]> : tensor<128x32xf32>
  %c = stablehlo.add %a, %b : tensor<128x32xf32>
  return %c : tensor<128x32xf32>
}

// A whole value would be added once a device, and the exponential of a sum is no sum.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %y: tensor<128xf32>)
    -> (tensor<128xf32>, tensor<128xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"model"}>]>}
      : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  // CHECK: %[[A:.*]] = sdy.reshard
  // CHECK: stablehlo.add %[[A]], %arg1
  %a = sdy.reshard %p <@mesh, [{}]> : tensor<128xf32>
  %b = stablehlo.add %a, %y : tensor<128xf32>
  %q = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"model"}>]>}
      : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  // CHECK: %[[C:.*]] = sdy.reshard
  // CHECK: stablehlo.exponential %[[C]]
  %c = sdy.reshard %q <@mesh, [{}]> : tensor<128xf32>
  %d = stablehlo.exponential %c : tensor<128xf32>
  return %b, %d : tensor<128xf32>, tensor<128xf32>
}

// Gradients accumulated over a loop from zero are reduced once, after it.
// CHECK-LABEL: @after_the_loop
func.func @after_the_loop(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %n: tensor<i32>)
    -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %start = stablehlo.constant dense<0.0> : tensor<64xf32>
  // CHECK: %[[W:.*]]:2 = stablehlo.while
  // CHECK-SAME: unreduced={"data"}
  // CHECK: stablehlo.reduce(
  // CHECK: stablehlo.add {{.*}}unreduced={"data"}
  // CHECK: %[[R:.*]] = sdy.reshard %[[W]]#1 <@mesh, [{}]>
  // CHECK: return %[[R]]
  %r:2 = stablehlo.while(%i = %n, %acc = %start) : tensor<i32>, tensor<64xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
          {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"data"}>]>}
          : (tensor<128x64xf32>, tensor<f32>) -> tensor<64xf32>
      %g = sdy.reshard %p <@mesh, [{}]> : tensor<64xf32>
      %s = stablehlo.add %acc, %g : tensor<64xf32>
      stablehlo.return %i, %s : tensor<i32>, tensor<64xf32>
    }
  return %r#1 : tensor<64xf32>
}

// A loop's partial values are all combined alike: the product is carried partial, the sum is reduced in each round. Wrong
// would be to multiply the devices' sums.
// CHECK-LABEL: @sum_and_product
func.func @sum_and_product(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %n: tensor<i32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %sum = stablehlo.constant dense<0.0> : tensor<64xf32>
  %product = stablehlo.constant dense<1.0> : tensor<64xf32>
  // CHECK: sdy.reshard %{{.*}} <@mesh, [{}], unreduced={"data"}> {tessera.partial = #tessera.partial<product>}
  // CHECK: stablehlo.while
  // CHECK-SAME: [<@mesh, []>, <@mesh, [{}], unreduced={"data"}>, <@mesh, [{?}]>]>, tessera.partial = #tessera.partial<product>
  // CHECK: applies stablehlo.add
  // CHECK-NEXT: sdy.reshard %{{.*}} <@mesh, [{}]>
  %r:3 = stablehlo.while(%i = %n, %m = %product, %s = %sum) : tensor<i32>, tensor<64xf32>, tensor<64xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %p = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0]
          {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"data"}>]>, tessera.partial = #tessera.partial<product>}
          : (tensor<128x64xf32>, tensor<f32>) -> tensor<64xf32>
      %g = sdy.reshard %p <@mesh, [{}]> : tensor<64xf32>
      %q = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
          {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"data"}>]>}
          : (tensor<128x64xf32>, tensor<f32>) -> tensor<64xf32>
      %h = sdy.reshard %q <@mesh, [{}]> : tensor<64xf32>
      %m2 = stablehlo.multiply %m, %g : tensor<64xf32>
      %s2 = stablehlo.add %s, %h : tensor<64xf32>
      stablehlo.return %i, %m2, %s2 : tensor<i32>, tensor<64xf32>, tensor<64xf32>
    }
  return %r#1, %r#2 : tensor<64xf32>, tensor<64xf32>
}

// An accumulator that is split over the axis that is summed over can't be partial over it, too.
// CHECK-LABEL: @split_accumulator
func.func @split_accumulator(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %n: tensor<i32>)
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %start = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}]>]>} dense<0.0> : tensor<4xf32>
  // CHECK: stablehlo.while
  // CHECK: %[[P:.*]] = stablehlo.reduce(
  // CHECK: %[[G:.*]] = sdy.reshard
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[G]]
  %r:2 = stablehlo.while(%i = %n, %acc = %start) : tensor<i32>, tensor<4xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"data"}]>]>}
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1]
          {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"data"}>]>}
          : (tensor<128x64xf32>, tensor<f32>) -> tensor<f32>
      %b = stablehlo.reshape %p {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"data"}>]>} : (tensor<f32>) -> tensor<1xf32>
      %g = sdy.reshard %b <@mesh, [{}]> : tensor<1xf32>
      %s = stablehlo.dynamic_update_slice %acc, %g, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}]>]>} : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
      stablehlo.return %i, %s : tensor<i32>, tensor<4xf32>
    }
  return %r#1 : tensor<4xf32>
}

// In bf16 the sum would be rounded on each device: reduced values are added. What only moves
// elements, or changes signs, still comes before the reduction.
// CHECK-LABEL: @narrow
func.func @narrow(%x: tensor<128x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                  %w: tensor<64x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<128x32xbf16> {
  // CHECK: %[[P:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[A:.*]] = sdy.reshard %[[P]] <@mesh, [{}, {}]>
  // CHECK-NEXT: %[[Q:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[Q]] {{.*}}unreduced={"model"}
  // CHECK-NEXT: %[[B:.*]] = sdy.reshard %[[N]] <@mesh, [{}, {}]>
  // CHECK-NEXT: stablehlo.add %[[A]], %[[B]]
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"model"}>]>}
      : (tensor<128x64xbf16>, tensor<64x32xbf16>) -> tensor<128x32xbf16>
  %a = sdy.reshard %p <@mesh, [{}, {}]> : tensor<128x32xbf16>
  %q = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"model"}>]>}
      : (tensor<128x64xbf16>, tensor<64x32xbf16>) -> tensor<128x32xbf16>
  %b = sdy.reshard %q <@mesh, [{}, {}]> : tensor<128x32xbf16>
  %n = stablehlo.negate %b : tensor<128x32xbf16>
  %c = stablehlo.add %a, %n : tensor<128x32xbf16>
  return %c : tensor<128x32xbf16>
}

// A sum that a loop reads from outside is reduced once, before the loop, not in each round.
// CHECK-LABEL: @read_by_a_loop
func.func @read_by_a_loop(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                          %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %n: tensor<i32>) -> tensor<128x32xf32> {
  // CHECK: %[[P:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[A:.*]] = sdy.reshard %[[P]] <@mesh, [{}, {}]>
  // CHECK: stablehlo.while
  // CHECK-NOT: sdy.reshard
  // CHECK: stablehlo.multiply %{{.*}}, %[[A]]
  // CHECK-NOT: sdy.reshard
  // CHECK: return
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"model"}>]>}
      : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  %a = sdy.reshard %p <@mesh, [{}, {}]> : tensor<128x32xf32>
  %one = stablehlo.constant dense<1.0> : tensor<128x32xf32>
  %r:2 = stablehlo.while(%i = %n, %s = %one) : tensor<i32>, tensor<128x32xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %s2 = stablehlo.multiply %s, %a : tensor<128x32xf32>
      stablehlo.return %i, %s2 : tensor<i32>, tensor<128x32xf32>
    }
  return %r#1 : tensor<128x32xf32>
}

// The sums of i8 wrap at 8 bits: they are reduced before a product makes i32 of them.
// CHECK-LABEL: @wraps_before
func.func @wraps_before(%x: tensor<128x64xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                        %w: tensor<64x32xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %v: tensor<32x4xi8>) -> tensor<128x4xi32> {
  // CHECK: %[[P:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[A:.*]] = sdy.reshard %[[P]] <@mesh, [{}, {}]>
  // CHECK: stablehlo.dot_general %[[A]], %{{.*}}
  // CHECK-NOT: sdy.reshard
  // CHECK: return
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"model"}>]>}
      : (tensor<128x64xi8>, tensor<64x32xi8>) -> tensor<128x32xi8>
  %a = sdy.reshard %p <@mesh, [{}, {}]> : tensor<128x32xi8>
  %q = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0]
      : (tensor<128x32xi8>, tensor<32x4xi8>) -> tensor<128x4xi32>
  return %q : tensor<128x4xi32>
}

// Parts travel in 16 bits; in 8 bits they may overflow when their sum does not.
// CHECK-LABEL: @narrowed
func.func @narrowed(%x: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<128xbf16>, tensor<128xf8E4M3FN>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[P:.*]] = stablehlo.reduce
  // CHECK: %[[HALF:.*]] = stablehlo.convert %[[P]] {{.*}} -> tensor<128xbf16>
  // CHECK: %[[A:.*]] = sdy.reshard %[[HALF]]
  // CHECK: %[[Q:.*]] = stablehlo.reduce
  // CHECK: %[[SUM:.*]] = sdy.reshard %[[Q]]
  // CHECK: %[[B:.*]] = stablehlo.convert %[[SUM]] {{.*}} -> tensor<128xf8E4M3FN>
  // CHECK: return %[[A]], %[[B]]
  %p = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"model"}>]>}
      : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  %a = sdy.reshard %p <@mesh, [{}]> : tensor<128xf32>
  %b = stablehlo.convert %a : (tensor<128xf32>) -> tensor<128xbf16>
  %q = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"model"}>]>}
      : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  %c = sdy.reshard %q <@mesh, [{}]> : tensor<128xf32>
  %d = stablehlo.convert %c : (tensor<128xf32>) -> tensor<128xf8E4M3FN>
  return %b, %d : tensor<128xbf16>, tensor<128xf8E4M3FN>
}
