// Marks print and parse back, as text and as bytecode.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --emit-bytecode | tessera-opt | FileCheck %s

// CHECK: module attributes {tessera.topology = #tessera.topology<name = "pod", alpha = 0.000000e+00 : f64, beta = 1.000000e+11 : f64, flops = 1.000000e+14 : f64, memory = 2.000000e+12 : f64,
// CHECK-SAME: axes = {data = #tessera.link<alpha = 1.000000e-05 : f64, beta = 3.300000e+09 : f64>, "x y" = #tessera.link<>}>}
module attributes {tessera.topology = #tessera.topology<name = "pod", alpha = 0.0, beta = 1.0e+11, flops = 1.0e+14, memory = 2.0e+12,
    axes = {data = #tessera.link<alpha = 1.0e-05, beta = 3.3e+09>, "x y" = #tessera.link<>}>} {

// CHECK-LABEL: @main
func.func @main(%x: tensor<8x4xf32>, %c: tensor<f32>, %i: tensor<i32>) {
  // CHECK: tessera.partial = #tessera.partial<product>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [0] {tessera.partial = #tessera.partial<product>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: tessera.partial = #tessera.partial<max>
  %1 = stablehlo.negate %x {tessera.partial = #tessera.partial<max>} : tensor<8x4xf32>
  // CHECK: tessera.partial = #tessera.partial<min>
  %2 = stablehlo.negate %x {tessera.partial = #tessera.partial<min>} : tensor<8x4xf32>
  // CHECK: tessera.partial = #tessera.partial<and>
  %3 = stablehlo.negate %x {tessera.partial = #tessera.partial<and>} : tensor<8x4xf32>
  // CHECK: tessera.partial = #tessera.partial<or>
  %4 = stablehlo.negate %x {tessera.partial = #tessera.partial<or>} : tensor<8x4xf32>
  // CHECK: tessera.trip_count = #tessera.trip_count<0>
  %5 = stablehlo.while(%a = %i) : tensor<i32> attributes {tessera.trip_count = #tessera.trip_count<0>}
    cond {
      %b = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %b : tensor<i1>
    } do {
      stablehlo.return %a : tensor<i32>
    }
  return
}
}

// The topology of which nothing is said is the default.
// CHECK: module attributes {tessera.topology = #tessera.topology<>}
module attributes {tessera.topology = #tessera.topology<>} {}
