// Rows that are copied for a product are cut so that the scratch stays small, which counts as memory of the device: all 512
// of them would take a megabyte.
// RUN: tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code | FileCheck %s

// CHECK: exec.kernel @product{{.*}} scratch_bytes = 131072 : i64
exec.kernel @product(%a: tensor<4x128x512xi1>, %b: tensor<4x128x128xf32>) -> tensor<512x128xf32> {
  %0 = stablehlo.convert %a : (tensor<4x128x512xi1>) -> tensor<4x128x512xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [0, 1] x [0, 1] : (tensor<4x128x512xf32>, tensor<4x128x128xf32>) -> tensor<512x128xf32>
  exec.yield %1 : tensor<512x128xf32>
}
