// RUN: tessera-opt %s --tessera-pair-transfers --split-input-file --verify-diagnostics | FileCheck %s

// A send and the recv of its channel become one permutation; the token goes on past both.

// CHECK-LABEL: func.func @main
// CHECK:         %[[T:.*]] = stablehlo.create_token
// CHECK-NOT:     stablehlo.send
// CHECK:         %[[R:.*]] = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>}>
// CHECK:         return %[[R]], %[[T]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, !stablehlo.token) {
  %t = stablehlo.create_token : !stablehlo.token
  %s = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %r, %u = "stablehlo.recv"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %r, %u : tensor<4xf32>, !stablehlo.token
}

// -----

// A send that nobody receives would be lost.
func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  // expected-error @+1 {{has no partner}}
  %s = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %s : !stablehlo.token
}

// -----

// The two ends disagree.
func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) -> tensor<4xf32> {
  %s = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // expected-error @+1 {{names other source_target_pairs}}
  %r, %u = "stablehlo.recv"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %r : tensor<4xf32>
}
