// A sum over a row of which one element is not zero is that element, or zero where no place has the index. Guards against
// sums of rows with other elements, or with several places, being taken for one element.
// RUN: tessera-opt %s --tessera-sum-selected | FileCheck %s

// As the gradient of a log-softmax sums that of a picked element.
// CHECK-LABEL: @picked
// CHECK-DAG: %[[U:.*]] = stablehlo.constant dense<-1.250000e-01> : tensor<8xf32>
// CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<0> : tensor<8xi32>
// CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<4> : tensor<8xi32>
// CHECK-DAG: %[[INDEX:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<8xi32>) -> tensor<8xi32>
// CHECK-DAG: %[[GE:.*]] = stablehlo.compare GE, %[[INDEX]], %[[LOW]], SIGNED
// CHECK-DAG: %[[LE:.*]] = stablehlo.compare LE, %[[INDEX]], %[[HIGH]], SIGNED
// CHECK: %[[THERE:.*]] = stablehlo.and %[[GE]], %[[LE]]
// CHECK: %[[NEGATED:.*]] = stablehlo.negate %[[U]]
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: stablehlo.select %[[THERE]], %[[NEGATED]], %[[ZERO]] : tensor<8xi1>, tensor<8xf32>
func.func @picked(%i: tensor<8xi32>) -> tensor<8xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x5xf32>
  %u = stablehlo.constant dense<-0.125> : tensor<8x5xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %places = stablehlo.iota dim = 1 : tensor<8x5xi32>
  %index = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<8xi32>) -> tensor<8x5xi32>
  %there = stablehlo.compare EQ, %places, %index, SIGNED : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %row = stablehlo.select %there, %u, %zeros : tensor<8x5xi1>, tensor<8x5xf32>
  %negated = stablehlo.negate %row : tensor<8x5xf32>
  %r = stablehlo.reduce(%negated init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Along the first dimension, an update of each column, computed from two; the iota is broadcast.
// CHECK-LABEL: @computed
// CHECK: %[[X:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[Y:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[SUM:.*]] = stablehlo.add %[[X]], %[[Y]]
// CHECK-NOT: stablehlo.reduce(
// CHECK: stablehlo.select %{{.*}}, %[[SUM]], %{{.*}} : tensor<3xi1>, tensor<3xf32>
func.func @computed(%i: tensor<3xui8>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<7x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %line = stablehlo.iota dim = 0 : tensor<7xui8>
  %places = stablehlo.broadcast_in_dim %line, dims = [0] : (tensor<7xui8>) -> tensor<7x3xui8>
  %index = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<3xui8>) -> tensor<7x3xui8>
  %there = stablehlo.compare EQ, %index, %places, UNSIGNED : (tensor<7x3xui8>, tensor<7x3xui8>) -> tensor<7x3xi1>
  %xs = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<7x3xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<7x3xf32>
  %u = stablehlo.add %xs, %ys : tensor<7x3xf32>
  %row = stablehlo.select %there, %u, %zeros : tensor<7x3xi1>, tensor<7x3xf32>
  %r = stablehlo.reduce(%row init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<7x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Other elements than zeros, places on the other dimension, a start that counts, a maximum.
// CHECK-LABEL: @others
// CHECK-COUNT-4: stablehlo.reduce(
// CHECK: return
func.func @others(%i: tensor<5xi32>, %x: tensor<5x5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<5x5xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<5x5xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %places = stablehlo.iota dim = 1 : tensor<5x5xi32>
  %index = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<5xi32>) -> tensor<5x5xi32>
  %there = stablehlo.compare EQ, %places, %index, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
  %mixed = stablehlo.select %there, %zeros, %ones : tensor<5x5xi1>, tensor<5x5xf32>
  %a = stablehlo.reduce(%mixed init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x5xf32>, tensor<f32>) -> tensor<5xf32>
  %row = stablehlo.select %there, %ones, %zeros : tensor<5x5xi1>, tensor<5x5xf32>
  %b = stablehlo.reduce(%row init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x5xf32>, tensor<f32>) -> tensor<5xf32>
  %c = stablehlo.reduce(%row init: %one) applies stablehlo.add across dimensions = [1] : (tensor<5x5xf32>, tensor<f32>) -> tensor<5xf32>
  %own = stablehlo.select %there, %x, %zeros : tensor<5x5xi1>, tensor<5x5xf32>
  %d = stablehlo.reduce(%own init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x5xf32>, tensor<f32>) -> tensor<5xf32>
  return %a, %b, %c, %d : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
