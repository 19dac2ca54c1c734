// Tokens and transfers: the text form as other implementations write it is read and printed back.
// RUN: tessera-opt %s --split-input-file | tessera-opt --split-input-file | FileCheck %s

// CHECK: stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
func.func @f(%arg0: !stablehlo.token, %arg1: !stablehlo.token) {
  %0 = stablehlo.after_all %arg0, %arg1 : !stablehlo.token
  return
}

// -----

// CHECK: stablehlo.after_all  : !stablehlo.token
func.func @f() {
  %0 = stablehlo.after_all  : !stablehlo.token
  return
}

// -----

// CHECK: stablehlo.create_token : !stablehlo.token
func.func @f() {
  %0 = stablehlo.create_token : !stablehlo.token
  return
}

// -----

// CHECK: "stablehlo.infeed"(%{{.*}}) <{infeed_config = "x", layout = {{\[\[}}0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
func.func @f(%arg0: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%arg0) <{infeed_config = "x", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// CHECK: "stablehlo.infeed"(%{{.*}}) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
func.func @f(%arg0: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%arg0) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// CHECK: "stablehlo.outfeed"(%{{.*}}, %{{.*}}) <{outfeed_config = "y"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
func.func @f(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = "y"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// CHECK: "stablehlo.outfeed"(%{{.*}}, %{{.*}}) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
func.func @f(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// CHECK: "stablehlo.send"(%{{.*}}, %{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
func.func @f(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) {
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// CHECK: "stablehlo.recv"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
func.func @f(%arg0: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// -----

// CHECK: "stablehlo.send"(%{{.*}}, %{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
func.func @f(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) {
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
