// Kernels say what they need beside arrays where memory is bounded, for the order.
// RUN: tessera-opt --tessera-set-target=target=cpu --tessera-form-kernels --tessera-size-scratch --split-input-file %s | FileCheck %s

// CHECK-LABEL: module @bounded
// CHECK: exec.fused(
// CHECK-SAME: attributes {tessera.scratch = {{[1-9][0-9]*}} : i64}
module @bounded attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 1048576>} {
  func.func @main(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %p : tensor<512x512xf32>
  }
}

// -----
// All fits, whatever the order.
// CHECK-LABEL: module @roomy
// CHECK-NOT: tessera.scratch
module @roomy attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 1073741824>} {
  func.func @main(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %p : tensor<512x512xf32>
  }
}

// -----
// CHECK-LABEL: module @unbounded
// CHECK-NOT: tessera.scratch
module @unbounded {
  func.func @main(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %p : tensor<512x512xf32>
  }
}
