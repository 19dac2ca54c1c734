// Movement in several steps becomes one, or none; what is annotated, or means something else, stays.
// RUN: tessera-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @splats
// CHECK-NOT:     broadcast_in_dim
// CHECK-DAG:     %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
// CHECK-DAG:     %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<6xi32>
// CHECK:         return %[[ONE]], %[[TWO]]
func.func @splats() -> (tensor<4x8xf32>, tensor<6xi32>) {
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %2 = stablehlo.constant dense<2> : tensor<i32>
  %3 = stablehlo.constant dense<2> : tensor<2xi32>
  %4 = stablehlo.pad %3, %2, low = [1], high = [3], interior = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<6xi32>
  return %0, %4 : tensor<4x8xf32>, tensor<6xi32>
}

// CHECK-LABEL: func.func @small_constants
// CHECK-DAG:     %[[T:.*]] = stablehlo.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK-DAG:     %[[R:.*]] = stablehlo.constant dense<{{\[\[}}3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
// CHECK-DAG:     %[[S:.*]] = stablehlo.constant dense<{{\[\[}}1, 3]]> : tensor<1x2xi32>
// CHECK-DAG:     %[[C:.*]] = stablehlo.constant dense<{{\[\[}}1, 2, 3, 1, 3], [4, 5, 6, 7, 8]]> : tensor<2x5xi32>
// CHECK-DAG:     %[[B:.*]] = stablehlo.constant dense<{{\[\[}}1, 1, 1], [3, 3, 3]]> : tensor<2x3xi32>
// CHECK-DAG:     %[[I:.*]] = stablehlo.constant dense<0> : tensor<1x4xi32>
// CHECK:         return %[[T]], %[[R]], %[[S]], %[[C]], %[[B]], %[[I]]
func.func @small_constants() -> (tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<2x5xi32>, tensor<2x3xi32>, tensor<1x4xi32>) {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = stablehlo.constant dense<[[1, 3], [7, 8]]> : tensor<2x2xi32>
  %v = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %r = stablehlo.reverse %x, dims = [1] : tensor<2x3xi32>
  %s = stablehlo.slice %x [0:1, 0:3:2] : (tensor<2x3xi32>) -> tensor<1x2xi32>
  %c = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x5xi32>
  %b = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<2xi32>) -> tensor<2x3xi32>
  %i = stablehlo.iota dim = 0 : tensor<1x4xi32>
  return %t, %r, %s, %c, %b, %i : tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<2x5xi32>, tensor<2x3xi32>, tensor<1x4xi32>
}

// CHECK-LABEL: func.func @steps
// CHECK-DAG:     %[[A:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<4x8x2xf32>
// CHECK-DAG:     %[[B:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
// CHECK-DAG:     %[[C:.*]] = stablehlo.reshape %arg1 : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
// CHECK-DAG:     %[[D:.*]] = stablehlo.reverse %arg1, dims = [0] : tensor<4x6xf32>
// CHECK:         return %[[A]], %[[B]], %[[C]], %[[D]], %arg1
func.func @steps(%x: tensor<8xf32>, %y: tensor<4x6xf32>) -> (tensor<4x8x2xf32>, tensor<8x4xf32>, tensor<4x1x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<8x1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<8x1xf32>) -> tensor<4x8x2xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.reshape %y : (tensor<4x6xf32>) -> tensor<1x4x6xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0, 2] : (tensor<1x4x6xf32>) -> tensor<4x1x6xf32>
  %6 = stablehlo.reverse %y, dims = [0, 1] : tensor<4x6xf32>
  %7 = stablehlo.reverse %6, dims = [1] : tensor<4x6xf32>
  %8 = stablehlo.reverse %6, dims = [1, 0] : tensor<4x6xf32>
  return %1, %3, %5, %7, %8 : tensor<4x8x2xf32>, tensor<8x4xf32>, tensor<4x1x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @parts
// CHECK-DAG:     %[[A:.*]] = stablehlo.slice %arg0 [3:8:2] : (tensor<10xf32>) -> tensor<3xf32>
// CHECK-DAG:     %[[B:.*]] = stablehlo.slice %arg1 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-DAG:     %[[C:.*]] = stablehlo.slice %arg0 [2:9] : (tensor<10xf32>) -> tensor<7xf32>
// CHECK-DAG:     %[[D:.*]] = stablehlo.concatenate %arg0, %arg1, %arg1, dim = 0
// CHECK:         return %[[A]], %[[B]], %arg0, %[[C]], %[[D]]
func.func @parts(%x: tensor<10xf32>, %y: tensor<4xf32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<10xf32>, tensor<7xf32>, tensor<18xf32>) {
  %0 = stablehlo.slice %x [1:9:2] : (tensor<10xf32>) -> tensor<4xf32>
  %1 = stablehlo.slice %0 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
  %2 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<10xf32>, tensor<4xf32>) -> tensor<14xf32>
  %3 = stablehlo.slice %2 [11:13] : (tensor<14xf32>) -> tensor<2xf32>
  %4 = stablehlo.slice %2 [0:10] : (tensor<14xf32>) -> tensor<10xf32>
  %5 = stablehlo.slice %x [2:5] : (tensor<10xf32>) -> tensor<3xf32>
  %6 = stablehlo.slice %x [5:9] : (tensor<10xf32>) -> tensor<4xf32>
  %7 = stablehlo.concatenate %5, %6, dim = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  %8 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<10xf32>, tensor<4xf32>) -> tensor<14xf32>
  %9 = stablehlo.concatenate %8, %y, dim = 0 : (tensor<14xf32>, tensor<4xf32>) -> tensor<18xf32>
  return %1, %3, %4, %7, %9 : tensor<3xf32>, tensor<2xf32>, tensor<10xf32>, tensor<7xf32>, tensor<18xf32>
}

// A slice over the seam, parts out of order, a broadcast of what a reshape merges, a transpose that moves elements.

// CHECK-LABEL: func.func @no_parts
// CHECK-DAG:     stablehlo.slice %{{.*}} [8:12]
// CHECK-DAG:     stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<5xf32>, tensor<5xf32>)
// CHECK-DAG:     stablehlo.reshape %arg2 : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-DAG:     stablehlo.transpose %arg2
func.func @no_parts(%x: tensor<10xf32>, %y: tensor<4xf32>, %z: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<10xf32>, tensor<3x8xf32>, tensor<4x2xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<10xf32>, tensor<4xf32>) -> tensor<14xf32>
  %1 = stablehlo.slice %0 [8:12] : (tensor<14xf32>) -> tensor<4xf32>
  %2 = stablehlo.slice %x [5:10] : (tensor<10xf32>) -> tensor<5xf32>
  %3 = stablehlo.slice %x [0:5] : (tensor<10xf32>) -> tensor<5xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<5xf32>, tensor<5xf32>) -> tensor<10xf32>
  %5 = stablehlo.reshape %z : (tensor<2x4xf32>) -> tensor<8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<8xf32>) -> tensor<3x8xf32>
  %7 = stablehlo.transpose %z, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %1, %4, %6, %7 : tensor<4xf32>, tensor<10xf32>, tensor<3x8xf32>, tensor<4x2xf32>
}

// A sharding is said of a value; another value in its place would lose it.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @annotated
// CHECK:         %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding
// CHECK:         stablehlo.transpose %[[T]], dims = [1, 0]
// CHECK:         stablehlo.multiply {{.*}} {sdy.sharding
func.func @annotated(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4x6xf32>
  %2 = stablehlo.multiply %x, %one {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x6xf32>
  return %1, %2 : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @choices
// CHECK-NEXT:    %[[N:.*]] = stablehlo.not %arg0
// CHECK-NEXT:    %[[S:.*]] = stablehlo.select %arg0, %arg2, %arg1
// CHECK-NEXT:    %[[M:.*]] = stablehlo.not %arg0
// CHECK-NEXT:    return %arg0, %[[N]], %[[S]], %arg0, %[[M]], %arg1, %arg1
func.func @choices(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) {
  %true = stablehlo.constant dense<true> : tensor<4xi1>
  %false = stablehlo.constant dense<false> : tensor<4xi1>
  %0 = stablehlo.select %p, %true, %false : tensor<4xi1>, tensor<4xi1>
  %1 = stablehlo.select %p, %false, %true : tensor<4xi1>, tensor<4xi1>
  %2 = stablehlo.not %p : tensor<4xi1>
  %3 = stablehlo.select %2, %x, %y : tensor<4xi1>, tensor<4xf32>
  %4 = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %5 = stablehlo.compare NE, %4, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %6 = stablehlo.compare EQ, %p, %false : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %least = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %most = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
  %7 = stablehlo.maximum %least, %x : tensor<4xf32>
  %8 = stablehlo.minimum %x, %most : tensor<4xf32>
  return %0, %1, %3, %5, %6, %7, %8 : tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
}

// x - x is NaN where x is not finite; max(x, +inf) is not x; 2 == p is not p.

// CHECK-LABEL: func.func @no_choices
// CHECK-DAG:     stablehlo.subtract
// CHECK-DAG:     stablehlo.maximum
// CHECK-DAG:     stablehlo.compare
func.func @no_choices(%p: tensor<4xi1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  %0 = stablehlo.subtract %x, %x : tensor<4xf32>
  %most = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
  %1 = stablehlo.maximum %x, %most : tensor<4xf32>
  %2 = stablehlo.constant dense<2.0> : tensor<4xf32>
  %3 = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
  %4 = stablehlo.compare EQ, %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @integers
// CHECK-DAG:     %[[Z:.*]] = stablehlo.constant dense<0> : tensor<4xi32>
// CHECK-DAG:     %[[S:.*]] = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi32>
// CHECK-DAG:     %[[A:.*]] = stablehlo.constant dense<[3, 0, 7]> : tensor<3xi32>
// CHECK-DAG:     %[[C:.*]] = stablehlo.constant dense<[3, 0, -7]> : tensor<3xi32>
// CHECK:         return %[[Z]], %[[Z]], %[[S]], %[[A]], %[[C]]
func.func @integers(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %0 = stablehlo.subtract %x, %x : tensor<4xi32>
  %1 = stablehlo.xor %x, %x : tensor<4xi32>
  %c = stablehlo.constant dense<[-3, 0, 7]> : tensor<3xi32>
  %2 = stablehlo.sign %c : tensor<3xi32>
  %3 = stablehlo.abs %c : tensor<3xi32>
  %p = stablehlo.compare LT, %c, %2 : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %n = stablehlo.negate %c : tensor<3xi32>
  %i = stablehlo.constant dense<[true, false, false]> : tensor<3xi1>
  %4 = stablehlo.select %i, %n, %n : tensor<3xi1>, tensor<3xi32>
  return %0, %1, %2, %3, %4 : tensor<4xi32>, tensor<4xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}

// A product takes the transposes that only it reads, batched ones, too.
// CHECK-LABEL: func.func @transposes_into_products
// CHECK-NOT:     transpose
// CHECK:         %[[A:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [1], precision = [HIGH, DEFAULT] : (tensor<4x8xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
// CHECK:         %[[B:.*]] = stablehlo.dot_general %arg2, %arg3, batching_dims = [1, 0] x [1, 2], contracting_dims = [3] x [0] : (tensor<2x3x5x7xf32>, tensor<7x3x2x9xf32>) -> tensor<3x2x5x9xf32>
// CHECK:         return %[[A]], %[[B]]
func.func @transposes_into_products(%a: tensor<4x8xf32>, %b: tensor<6x4xf32>, %c: tensor<2x3x5x7xf32>, %d: tensor<7x3x2x9xf32>) -> (tensor<8x6xf32>, tensor<3x2x5x9xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %3 = stablehlo.transpose %c, dims = [3, 1, 0, 2] : (tensor<2x3x5x7xf32>) -> tensor<7x3x2x5xf32>
  %4 = stablehlo.transpose %d, dims = [3, 2, 1, 0] : (tensor<7x3x2x9xf32>) -> tensor<9x2x3x7xf32>
  %5 = stablehlo.dot_general %3, %4, batching_dims = [1, 2] x [2, 1], contracting_dims = [0] x [3] : (tensor<7x3x2x5xf32>, tensor<9x2x3x7xf32>) -> tensor<3x2x5x9xf32>
  return %2, %5 : tensor<8x6xf32>, tensor<3x2x5x9xf32>
}

// Not those that turn dimensions of the result around, that others read, or that are annotated.
// CHECK-LABEL: func.func @transposes_that_stay
// CHECK-COUNT-3: stablehlo.transpose
func.func @transposes_that_stay(%a: tensor<4x8x6xf32>, %b: tensor<4x8xf32>, %c: tensor<4x5xf32>) -> (tensor<6x8x5xf32>, tensor<8x8xf32>, tensor<8x5xf32>) {
  %0 = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<4x8x6xf32>) -> tensor<4x6x8xf32>
  %1 = stablehlo.dot_general %0, %c, contracting_dims = [0] x [0] : (tensor<4x6x8xf32>, tensor<4x5xf32>) -> tensor<6x8x5xf32>
  %2 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.dot_general %2, %2, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.transpose %b, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %5 = stablehlo.dot_general %4, %c, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  return %1, %3, %5 : tensor<6x8x5xf32>, tensor<8x8xf32>, tensor<8x5xf32>
}
