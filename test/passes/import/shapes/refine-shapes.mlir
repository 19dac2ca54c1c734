// Shapes follow from those of the arguments: through arithmetic on sizes, loops and branches; assertions are checked.
// RUN: not tessera-opt %s --split-input-file --tessera-refine-shapes --canonicalize 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR --input-file=%t.err

// CHECK-LABEL: module @sizes
// CHECK: func.func @main(%{{.*}}: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4xf32>, tensor<2x4xf32>)
// CHECK-DAG: reshape {{.*}} -> tensor<32xf32>
// CHECK-DAG: dynamic_iota {{.*}} -> tensor<4xf32>
// CHECK-DAG: dynamic_broadcast_in_dim {{.*}} -> tensor<2x4xf32>
// CHECK-NOT: shape_assertion
module @sizes {
  func.func @main(%x: tensor<?x8xf32> {tessera.shape = tensor<4x8xf32>}) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<1xi32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ok = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "n is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %all = stablehlo.multiply %n, %eight : tensor<i32>
    %shape = stablehlo.reshape %all : (tensor<i32>) -> tensor<1xi32>
    %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x8xf32>, tensor<1xi32>) -> tensor<?xf32>
    %ns = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_iota %ns, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    %both = stablehlo.concatenate %two, %ns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %1, %both, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
  }
}
// -----
// CHECK-LABEL: module @loop
// CHECK: stablehlo.while{{.*}} : tensor<i32>, tensor<4xf32>
// CHECK: return {{.*}} : tensor<4xf32>
module @loop {
  func.func @main(%x: tensor<?xf32> {tessera.shape = tensor<4xf32>}) -> tensor<?xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<?xf32>
    cond {
      %n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %z = stablehlo.add %y, %y : tensor<?xf32>
      %p = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %p : tensor<i32>
      stablehlo.return %j, %z : tensor<i32>, tensor<?xf32>
    }
    return %0#1 : tensor<?xf32>
  }
}
// -----
// A slice has the size that its limits add to its starts, wherever those are.
// CHECK-LABEL: module @moving
// CHECK: stablehlo.real_dynamic_slice {{.*}} -> tensor<3x4xf32>
module @moving {
  func.func @main(%x: tensor<?x4xf32> {tessera.shape = tensor<6x4xf32>}, %start: tensor<2xi32>) -> tensor<?x?xf32> {
    %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %half = stablehlo.divide %0, %two : tensor<i32>
    %1 = stablehlo.reshape %half : (tensor<i32>) -> tensor<1xi32>
    %four = stablehlo.constant dense<4> : tensor<1xi32>
    %size = stablehlo.concatenate %1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %limit = stablehlo.add %start, %size : tensor<2xi32>
    %step = stablehlo.constant dense<1> : tensor<2xi32>
    %2 = stablehlo.real_dynamic_slice %x, %start, %limit, %step : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %2 : tensor<?x?xf32>
  }
}
// -----
// A window reduction whose window is a value.
// CHECK-LABEL: module @window
// CHECK: "stablehlo.reduce_window"{{.*}}window_dimensions = array<i64: 2>
// CHECK: -> tensor<3xf32>
module @window {
  func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @main(%x: tensor<?xf32> {tessera.shape = tensor<4xf32>}, %z: tensor<f32>) -> tensor<?xf32> {
    %two = stablehlo.constant dense<2> : tensor<1xi32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %none = stablehlo.constant dense<0> : tensor<1x2xi32>
    %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %two, %one, %one, %one, %none) {called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
// -----
// ERROR: error: argument 1 of @main has type 'tensor<2x?xf32>', whose shape is not known; give it by --input-shapes=in1:2xN, with numbers for N
func.func @main(%x: tensor<4xf32>, %y: tensor<2x?xf32>) -> tensor<2x?xf32> {
  return %y : tensor<2x?xf32>
}
// -----
// ERROR: error: a shape assertion does not hold: n is 4, not more
func.func @main(%x: tensor<?xf32> {tessera.shape = tensor<4xf32>}) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<5> : tensor<i32>
  %ok = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "n is {0}, not more", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %x : tensor<?xf32>
}
// -----
// ERROR: error: 'stablehlo.dynamic_iota' has a result of type 'tensor<?xf32>', whose shape does not follow from the shapes of the inputs: it depends on data
func.func @main(%n: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %n = stablehlo.constant dense<5> : tensor<i32>
  // expected-error@+1 {{sets dimension 0 of 'tensor<4xf32>' to 5, which is larger}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
