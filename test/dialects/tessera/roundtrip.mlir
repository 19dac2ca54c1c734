// Marks print and parse back, as text and as bytecode.
// RUN: tessera-opt %s --mlir-print-debuginfo | tessera-opt --mlir-print-debuginfo | FileCheck %s
// RUN: tessera-opt %s --emit-bytecode | tessera-opt --mlir-print-debuginfo | FileCheck %s

// CHECK: module attributes {tessera.topology = #tessera.topology<alpha = 0.000000e+00 : f64, axes = {data = {alpha = 1.000000e-05 : f64, beta = 3.300000e+09 : f64}, "x y" = {}}, beta = 1.000000e+11 : f64, flops = 1.000000e+14 : f64,
// CHECK-SAME: flops_by_type = {bf16 = 3.000000e+14 : f64}, levels = [{devices = 8.000000e+00 : f64, name = "host"}, {beta = 1.000000e+09 : f64, name = "pod"}], memory = 2.000000e+12 : f64, name = "pod", spaces = {device = {bytes = 8.000000e+10 : f64}}>}
module attributes {tessera.topology = #tessera.topology<name = "pod", alpha = 0.0, beta = 1.0e+11, flops = 1.0e+14, memory = 2.0e+12, flops_by_type = {bf16 = 3.0e+14},
    axes = {data = {alpha = 1.0e-05, beta = 3.3e+09}, "x y" = {}}, levels = [{name = "host", devices = 8.0}, {name = "pod", beta = 1.0e+09}],
    spaces = {device = {bytes = 8.0e+10}}>} {

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

// CHECK: module attributes {tessera.target = #tessera.target<shadow, <"znver4", vector_bits = 256, features = ["avx2", "fma"]>, <"x86-64", vector_bits = 128>>}
module attributes {tessera.target = #tessera.target<shadow, <"znver4", vector_bits = 256, features = ["avx2", "fma"]>, <"x86-64", vector_bits = 128>>} {}

// CHECK: module attributes {tessera.schedule = #tessera.schedule<overlap = off, memory = 80000000000>}
module attributes {tessera.schedule = #tessera.schedule<overlap = off, memory = 80000000000>} {}
// CHECK: module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 80000000000, scratch_within = 6000>}
module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 80000000000, scratch_within = 6000>} {}
// CHECK: module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 80000000000, small_attention>}
module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 80000000000, small_attention>} {}
// CHECK: module attributes {tessera.schedule = #tessera.schedule<overlap = auto, scratch_within = 6000>}
module attributes {tessera.schedule = #tessera.schedule<overlap = auto, scratch_within = 6000>} {}
// CHECK: module attributes {tessera.schedule = #tessera.schedule<overlap = auto>}
module attributes {tessera.schedule = #tessera.schedule<overlap = auto>} {}

// Of a program on the way to be explained.
// CHECK: module attributes {tessera.explain}
module attributes {tessera.explain} {
sdy.mesh @mesh = <["x"=2]>
// CHECK: func.func @main(%{{.*}}: tensor<?xf32> {tessera.shape = tensor<8xf32>}
// CHECK-SAME: %{{.*}}: tensor<4xf32> {tessera.global = tensor<8xf32>, tessera.origin = #tessera.origin<["\22x\22 as annotated"]>}
// CHECK-SAME: -> (tensor<4xf32> {tessera.global = tensor<8xf32>})
func.func @main(%x: tensor<?xf32> {tessera.shape = tensor<8xf32>},
                %y: tensor<4xf32> {tessera.global = tensor<8xf32>, tessera.origin = #tessera.origin<["\22x\22 as annotated"]>})
    -> (tensor<4xf32> {tessera.global = tensor<8xf32>}) {
  // CHECK: sdy.reshard {{.*}} {tessera.asked_for}
  %0 = sdy.reshard %y <@mesh, [{"x"}]> {tessera.asked_for} : tensor<4xf32> loc(fused<#tessera.value_name<"%0">>["a.py":1:2])
  // CHECK: tessera.conflict = #tessera.conflict<["one", "two"]>, tessera.origin = #tessera.origin<["a", "b"], []>
  %1:2 = "stablehlo.optimization_barrier"(%0, %0) {tessera.conflict = #tessera.conflict<["one", "two"]>, tessera.origin = #tessera.origin<["a", "b"], []>}
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc(fused<#tessera.op_number<7 after reshard>>[fused<#tessera.op_number<5 after reading>>["a.py":1:2]])
  // CHECK: tessera.boundary = #tessera.boundary<sharding = <@mesh, [{"x"}]>, manual_axes = {{.*}}{"x"}>
  %2 = stablehlo.custom_call @SPMDFullToShardShape(%0)
    {tessera.boundary = #tessera.boundary<sharding = #sdy.sharding<@mesh, [{"x"}]>, manual_axes = #sdy<manual_axes{"x"}>>} : (tensor<4xf32>) -> tensor<2xf32>
  return %1#0 : tensor<4xf32>
}
}
// CHECK-DAG: fused<#tessera.value_name<"%0">>
// CHECK-DAG: fused<#tessera.op_number<7 after reshard>>
// CHECK-DAG: fused<#tessera.op_number<5 after reading>>
