// RUN: tessera-opt %s --tessera-flatten-tuples --split-input-file --verify-diagnostics

// What speaks with the host while the program runs is refused, with the way out.

func.func @infeed(%t: !stablehlo.token) -> tensor<4xf32> {
  // expected-error @+1 {{pass the data as an argument of @main}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @outfeed(%x: tensor<4xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  // expected-error @+1 {{return the data from @main}}
  %0 = "stablehlo.outfeed"(%x, %t) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

func.func @send(%x: tensor<4xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  // expected-error @+1 {{use collectives between devices}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
