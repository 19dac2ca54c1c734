// What looks like attention and is no kernel is named, with what is in its way.
// RUN: tessera-opt %s --tessera-form-attention --split-input-file --verify-diagnostics

module attributes {tessera.explain} {
  func.func @read_outside(%q: tensor<256x64xf32>, %k: tensor<256x64xf32>, %v: tensor<256x64xf32>) -> (tensor<256x64xf32>, tensor<256x256xf32>) {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    // expected-remark @below {{attention is not one kernel here, so that its scores are arrays}}
    %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x256xf32>
    %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
    %2 = stablehlo.subtract %x, %1 : tensor<256x256xf32>
    %e = stablehlo.exponential %2 : tensor<256x256xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
    %p = stablehlo.divide %e, %3 : tensor<256x256xf32>
    %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    return %o, %p : tensor<256x64xf32>, tensor<256x256xf32>
  }
}

// -----

// The gradients of a cross entropy are products with what its logits are of, not with values.
module attributes {tessera.explain} {
  func.func @cross_entropy(%x: tensor<256x64xf32>, %w: tensor<64x512xf32>, %labels: tensor<256x512xf32>) -> (tensor<256x64xf32>, tensor<64x512xf32>) {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %l = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x512xf32>) -> tensor<256x512xf32>
    %m = stablehlo.reduce(%l init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<256x512xf32>, tensor<f32>) -> tensor<256xf32>
    %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<256xf32>) -> tensor<256x512xf32>
    %2 = stablehlo.subtract %l, %1 : tensor<256x512xf32>
    %e = stablehlo.exponential %2 : tensor<256x512xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<256x512xf32>, tensor<f32>) -> tensor<256xf32>
    %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<256xf32>) -> tensor<256x512xf32>
    %p = stablehlo.divide %e, %3 : tensor<256x512xf32>
    %g = stablehlo.subtract %p, %labels : tensor<256x512xf32>
    %turned = stablehlo.transpose %w, dims = [1, 0] : (tensor<64x512xf32>) -> tensor<512x64xf32>
    %dx = stablehlo.dot_general %g, %turned, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x64xf32>) -> tensor<256x64xf32>
    %dw = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<256x64xf32>, tensor<256x512xf32>) -> tensor<64x512xf32>
    return %dx, %dw : tensor<256x64xf32>, tensor<64x512xf32>
  }
}
