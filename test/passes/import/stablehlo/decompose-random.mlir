// RUN: tessera-opt %s --tessera-decompose-random | FileCheck %s

// Random bits become arithmetic on counters: the numbers are compared with JAX's in test/numerics.

// Threefry: 20 rounds on half as many counters as there are elements; the counter moves on by those.
// CHECK-LABEL: func.func @threefry
// CHECK:         %[[I:.*]] = stablehlo.iota dim = 0 : tensor<4xui64>
// CHECK-NOT:     rng_bit_generator
// CHECK-COUNT-20: stablehlo.or {{.*}} : tensor<4xui32>
// CHECK:         %[[N:.*]] = stablehlo.constant dense<4> : tensor<ui64>
// CHECK:         stablehlo.add %{{.*}}, %[[N]] : tensor<ui64>
// CHECK:         return %{{.*}}, %{{.*}} : tensor<2xui64>, tensor<8xui32>
func.func @threefry(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return %0, %1 : tensor<2xui64>, tensor<8xui32>
}

// Philox, which is the default: four words a counter; a state of 32-bit words is taken in pairs.
// CHECK-LABEL: func.func @philox
// CHECK:         %[[W:.*]] = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
// CHECK-NEXT:    stablehlo.bitcast_convert %[[W]] : (tensor<2x2xui32>) -> tensor<2xui64>
// CHECK:         stablehlo.iota dim = 0 : tensor<2xui64>
// CHECK:         stablehlo.concatenate {{.*}}, dim = 1
// CHECK:         stablehlo.slice {{.*}} [0:6]
func.func @philox(%s: tensor<4xui32>) -> tensor<2x3xi32> {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<4xui32>) -> (tensor<4xui32>, tensor<2x3xi32>)
  return %1 : tensor<2x3xi32>
}

// Two draws of one kind differ: each has a key of its own.
// CHECK-LABEL: func.func @rng
// CHECK:         stablehlo.constant dense<0> : tensor<2xui64>
// CHECK:         stablehlo.constant dense<[1, 0]> : tensor<2xui64>
// CHECK-NOT:     stablehlo.rng
func.func @rng(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = stablehlo.constant dense<8> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  %1 = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
