// RUN: tessera-opt %s --tessera-normalize-operations --split-input-file --verify-diagnostics

// Operations whose attributes, or whose constant operands, do not fit their arrays.

func.func @select_from_scalar(%a: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  // expected-error@+1 {{selects along dimension 0 with 0 batch dimensions, from an operand of 0 and by an index of 0 dimensions}}
  %0 = "stablehlo.torch_index_select"(%a, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @slice_of_other_size(%a: tensor<8xf32>) -> tensor<3xf32> {
  %start = stablehlo.constant dense<2> : tensor<1xi32>
  %limit = stablehlo.constant dense<4> : tensor<1xi32>
  %step = stablehlo.constant dense<1> : tensor<1xi32>
  // expected-error@+1 {{the result has shape [3], expected [2]}}
  %0 = stablehlo.real_dynamic_slice %a, %start, %limit, %step : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
