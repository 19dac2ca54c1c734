// Kernels get native code: grid, scratch and flops on each, the shared object on the module.
// RUN: tessera-opt %s --tessera-codegen-cpu --mlir-elide-resource-strings-if-larger=8 | FileCheck %s

// CHECK: module attributes {tessera.target = #tessera.target<cpu, <"[[CPU:[^"]+]]"
// CHECK: exec.kernel @gelu
// CHECK-SAME: flops = {{[0-9.e+]+}} : f64, grid = {{[0-9]+}} : i64, scratch_bytes = 0 : i64
exec.kernel @gelu(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %t = stablehlo.tanh %x : tensor<64x128xf32>
  %g = stablehlo.multiply %x, %t : tensor<64x128xf32>
  exec.yield %g : tensor<64x128xf32>
}

// A reduction's rows are cells of their own; the reduced dimension never is.
// CHECK: exec.kernel @sum
// CHECK-SAME: flops = 8.000000e+03
exec.kernel @sum(%x: tensor<8x1000xf32>, %init: tensor<f32>) -> tensor<8xf32> {
  %s = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<8x1000xf32>, tensor<f32>) -> tensor<8xf32>
  exec.yield %s : tensor<8xf32>
}
// CHECK: exec.image "cpu" for "[[CPU]]" [{{.*}}] dense_resource<exec_code> : tensor<{{[0-9]+}}xi8>
