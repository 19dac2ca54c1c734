func.func public @main(%a: tensor<33x8xui8> {tf.aliasing_output = 0 : i32}, %b: tensor<33xui64>) -> tensor<33x8xui8> {
  %0 = stablehlo.bitcast_convert %a : (tensor<33x8xui8>) -> tensor<33xui64>
  %x = stablehlo.divide %0, %b : tensor<33xui64>
 %1 = stablehlo.multiply %x, %0 : tensor<33xui64>
  %2 = stablehlo.bitcast_convert %1 : (tensor<33xui64>) -> tensor<33x8xui8>
  return %2 : tensor<33x8xui8>
}