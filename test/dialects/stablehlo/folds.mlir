// Constants fold, and operations that change nothing go.
// RUN: tessera-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @integers
// CHECK-DAG:     %[[A:.*]] = stablehlo.constant dense<-2> : tensor<i32>
// CHECK-DAG:     %[[B:.*]] = stablehlo.constant dense<1> : tensor<ui32>
// CHECK-DAG:     %[[C:.*]] = stablehlo.constant dense<true> : tensor<i1>
// CHECK:         return %[[A]], %[[B]], %[[C]]
func.func @integers() -> (tensor<i32>, tensor<ui32>, tensor<i1>) {
  %minus7 = stablehlo.constant dense<-7> : tensor<i32>
  %3 = stablehlo.constant dense<3> : tensor<i32>
  %q = stablehlo.divide %minus7, %3 : tensor<i32>
  %most = stablehlo.constant dense<4294967295> : tensor<ui32>
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %r = stablehlo.remainder %most, %two : tensor<ui32>
  %c = stablehlo.compare GT, %most, %two, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  return %q, %r, %c : tensor<i32>, tensor<ui32>, tensor<i1>
}

// A division by zero is left to the program.

// CHECK-LABEL: func.func @undefined
// CHECK:         stablehlo.divide
func.func @undefined() -> tensor<i32> {
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %q = stablehlo.divide %1, %0 : tensor<i32>
  return %q : tensor<i32>
}

// x + 0.0 is not x for x = -0.0; x - 0.0 and x * 1.0 are.

// CHECK-LABEL: func.func @neutral
// CHECK:         %[[S:.*]] = stablehlo.add
// CHECK-NOT:     stablehlo.subtract
// CHECK-NOT:     stablehlo.multiply
// CHECK:         return %[[S]], %arg0
func.func @neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %a = stablehlo.add %x, %0 : tensor<4xf32>
  %b = stablehlo.subtract %x, %0 : tensor<4xf32>
  %c = stablehlo.multiply %b, %1 : tensor<4xf32>
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}

// Through a wider type and back; the way through a narrower one rounds and stays.

// CHECK-LABEL: func.func @converts
// CHECK:         stablehlo.convert %arg1 : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK:         %[[R:.*]] = stablehlo.convert
// CHECK:         return %arg0, %[[R]]
func.func @converts(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = stablehlo.convert %y : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}

// CHECK-LABEL: func.func @movement
// CHECK-NEXT:    stablehlo.reshape %arg0 : (tensor<2x6xf32>) -> tensor<12xf32>
// CHECK-NEXT:    stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<3x2x6xf32>
// CHECK-NEXT:    stablehlo.slice %arg0 [0:2, 4:6] : (tensor<2x6xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    return %{{.*}}, %arg0
func.func @movement(%x: tensor<2x6xf32>) -> (tensor<12xf32>, tensor<2x6xf32>, tensor<3x2x6xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x4xf32>) -> tensor<12xf32>
  %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<6x2xf32>) -> tensor<2x6xf32>
  %4 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<3x2x6xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %6 = stablehlo.dynamic_slice %x, %zero, %nine, sizes = [2, 2] : (tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  return %1, %3, %5, %6 : tensor<12xf32>, tensor<2x6xf32>, tensor<3x2x6xf32>, tensor<2x2xf32>
}

// A loop does not carry what is constant or unread; a branch that is known takes the place of the op.

// CHECK-LABEL: func.func @control
// CHECK:         %[[W:.*]] = stablehlo.while(%{{.*}} = %arg0) : tensor<i32>
// CHECK:           stablehlo.compare LT, %{{.*}}, %{{.*}}
// CHECK-NOT:     stablehlo.if
// CHECK:         %[[S:.*]] = stablehlo.sine %arg1
// CHECK:         return %[[W]], %[[S]]
func.func @control(%i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  %n = stablehlo.constant dense<8> : tensor<i32>
  %0:3 = stablehlo.while(%a = %i, %m = %n, %u = %x) : tensor<i32>, tensor<i32>, tensor<4xf32>
  cond {
    %c = stablehlo.compare LT, %a, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %k = stablehlo.add %a, %m : tensor<i32>
    stablehlo.return %k, %m, %u : tensor<i32>, tensor<i32>, tensor<4xf32>
  }
  %true = stablehlo.constant dense<true> : tensor<i1>
  %1 = "stablehlo.if"(%true) ({
    %s = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0#0, %1 : tensor<i32>, tensor<4xf32>
}

// Constants stay in the computation of a reduction.

// CHECK-LABEL: func.func @computation
// CHECK:         reducer
// CHECK:           stablehlo.constant dense<6>
func.func @computation(%x: tensor<4xi32>, %i: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
   reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %2 = stablehlo.constant dense<2> : tensor<i32>
    %3 = stablehlo.constant dense<3> : tensor<i32>
    %6 = stablehlo.multiply %2, %3 : tensor<i32>
    %s = stablehlo.add %a, %b : tensor<i32>
    %t = stablehlo.add %s, %6 : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }
  return %0 : tensor<i32>
}

// The sum of booleans is their disjunction. f4E2M1FN has no infinity to round 1/0 to, f8E8M0FNU neither
// zero nor sign: what kernels give there is left to them. Nothing of f8E8M0FNU converts to false.

// CHECK-LABEL: func.func @rounding
// CHECK-DAG:     %[[BOTH:.*]] = stablehlo.constant dense<true> : tensor<2xi1>
// CHECK-DAG:     %[[TRUE:.*]] = stablehlo.constant dense<true> : tensor<3xi1>
// CHECK-DAG:     %[[Q:.*]] = stablehlo.divide {{.*}} : tensor<f4E2M1FN>
// CHECK-DAG:     %[[S:.*]] = stablehlo.convert {{.*}} : (tensor<f32>) -> tensor<f4E2M1FN>
// CHECK-DAG:     %[[N:.*]] = stablehlo.convert {{.*}} : (tensor<i32>) -> tensor<f8E8M0FNU>
// CHECK:         return %[[BOTH]], %[[Q]], %[[S]], %[[N]], %[[TRUE]]
func.func @rounding(%e: tensor<3xf8E8M0FNU>) -> (tensor<2xi1>, tensor<f4E2M1FN>, tensor<f4E2M1FN>, tensor<f8E8M0FNU>, tensor<3xi1>) {
  %true = stablehlo.constant dense<true> : tensor<2xi1>
  %0 = stablehlo.add %true, %true : tensor<2xi1>
  %one = stablehlo.constant dense<1.0> : tensor<f4E2M1FN>
  %zero = stablehlo.constant dense<0.0> : tensor<f4E2M1FN>
  %1 = stablehlo.divide %one, %zero : tensor<f4E2M1FN>
  %inf = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %2 = stablehlo.convert %inf : (tensor<f32>) -> tensor<f4E2M1FN>
  %minus = stablehlo.constant dense<-4> : tensor<i32>
  %3 = stablehlo.convert %minus : (tensor<i32>) -> tensor<f8E8M0FNU>
  %4 = stablehlo.convert %e : (tensor<3xf8E8M0FNU>) -> tensor<3xi1>
  return %0, %1, %2, %3, %4 : tensor<2xi1>, tensor<f4E2M1FN>, tensor<f4E2M1FN>, tensor<f8E8M0FNU>, tensor<3xi1>
}
