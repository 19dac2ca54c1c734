// A table that only gathers read, of fewer rows than it has, is computed where they read it.
// RUN: tessera-opt %s --split-input-file --tessera-compute-gathered | FileCheck %s

// Rows outside are the nearest ones, as a gather takes them; the trips of a loop count.
// CHECK-LABEL: func.func @positions
// CHECK-NOT: 4096x4
// CHECK: stablehlo.while
// CHECK: %[[J:.*]] = stablehlo.reshape %arg1 : (tensor<8x1xi32>) -> tensor<8xi32>
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<8xi32>
// CHECK-DAG: %[[LAST:.*]] = stablehlo.constant dense<4095> : tensor<8xi32>
// CHECK: %[[C:.*]] = stablehlo.clamp %[[ZERO]], %[[J]], %[[LAST]]
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[C]] : (tensor<8xi32>) -> tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[F:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[A:.*]] = stablehlo.multiply %[[R]], %[[F]] : tensor<8x4xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.cosine %[[A]] : tensor<8x4xf32>
// CHECK-NEXT: stablehlo.add %{{.*}}, %[[T]]
func.func @positions(%f: tensor<4xf32>, %i: tensor<8x1xi32>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = stablehlo.iota dim = 0 : tensor<4096xf32>
  %0 = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4096xf32>) -> tensor<4096x4xf32>
  %1 = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<4xf32>) -> tensor<4096x4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4096x4xf32>
  %t = stablehlo.cosine %2 : tensor<4096x4xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %trips = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<8x4xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
    cond {
      %p = stablehlo.compare LT, %k, %trips, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %g = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<4096x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
      %z = stablehlo.add %y, %g : tensor<8x4xf32>
      %next = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %next, %z : tensor<i32>, tensor<8x4xf32>
    }
  return %r#1 : tensor<8x4xf32>
}

// -----

// The other dimension of the table, and numbers along both.
// CHECK-LABEL: func.func @columns
// CHECK: %[[N:.*]] = stablehlo.clamp %{{.*}}, %arg0, %{{.*}} : tensor<2x3xi32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x5xi32>
// CHECK: %[[R:.*]] = stablehlo.iota dim = 2 : tensor<2x3x5xi32>
// CHECK: stablehlo.multiply %[[B]], %[[R]] : tensor<2x3x5xi32>
func.func @columns(%i: tensor<2x3xi32>) -> tensor<2x3x5xi32> {
  %c = stablehlo.iota dim = 1 : tensor<5x100xi32>
  %r = stablehlo.iota dim = 0 : tensor<5x100xi32>
  %t = stablehlo.multiply %c, %r : tensor<5x100xi32>
  %g = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 5, 1>}> : (tensor<5x100xi32>, tensor<2x3xi32>) -> tensor<2x3x5xi32>
  return %g : tensor<2x3x5xi32>
}

// -----

// As many rows as the table has; a table that is read otherwise, too; one of more rows than its type
// can count; what an argument says of each row; trips that data decides.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-5: stablehlo.gather
func.func @stay(%i: tensor<8x1xi32>, %few: tensor<2x1xi32>, %said: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>, tensor<8xf32>, tensor<2xbf16>, tensor<2xf32>, tensor<2xf32>) {
  %n = stablehlo.iota dim = 0 : tensor<8xf32>
  %a = stablehlo.cosine %n : tensor<8xf32>
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<8x1xi32>) -> tensor<8xf32>
  %b = stablehlo.sine %n : tensor<8xf32>
  %1 = "stablehlo.gather"(%b, %few) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %m = stablehlo.iota dim = 0 : tensor<300xbf16>
  %c = stablehlo.sine %m : tensor<300xbf16>
  %2 = "stablehlo.gather"(%c, %few) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<300xbf16>, tensor<2x1xi32>) -> tensor<2xbf16>
  %d = stablehlo.add %n, %said : tensor<8xf32>
  %3 = "stablehlo.gather"(%d, %few) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %e = stablehlo.exponential %n : tensor<8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %r = stablehlo.while(%y = %zero) : tensor<2xf32>
    cond {
      %f = stablehlo.slice %y [0:1] : (tensor<2xf32>) -> tensor<1xf32>
      %s = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>
      %h = stablehlo.constant dense<9.0> : tensor<f32>
      %p = stablehlo.compare LT, %s, %h, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %g = "stablehlo.gather"(%e, %few) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
      %z = stablehlo.add %y, %g : tensor<2xf32>
      stablehlo.return %z : tensor<2xf32>
    }
  return %0, %1, %b, %2, %3, %r : tensor<8xf32>, tensor<2xf32>, tensor<8xf32>, tensor<2xbf16>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Unsigned numbers of rows reach further: 200 rows have numbers in ui8, none in i8.
// CHECK-LABEL: func.func @unsigned
// CHECK-DAG: %[[LAST:.*]] = stablehlo.constant dense<199> : tensor<2xui8>
// CHECK: %[[C:.*]] = stablehlo.clamp %{{.*}}, %{{.*}}, %[[LAST]] : tensor<2xui8>
// CHECK: stablehlo.convert %[[C]] : (tensor<2xui8>) -> tensor<2xf32>
// CHECK: "stablehlo.gather"(%{{.*}}, %arg1)
func.func @unsigned(%u: tensor<2x1xui8>, %s: tensor<2x1xi8>) -> (tensor<2xf32>, tensor<2xf32>) {
  %n = stablehlo.iota dim = 0 : tensor<200xf32>
  %a = stablehlo.cosine %n : tensor<200xf32>
  %b = stablehlo.sine %n : tensor<200xf32>
  %0 = "stablehlo.gather"(%a, %u) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xf32>, tensor<2x1xui8>) -> tensor<2xf32>
  %1 = "stablehlo.gather"(%b, %s) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xf32>, tensor<2x1xi8>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
