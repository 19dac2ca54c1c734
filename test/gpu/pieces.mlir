// Rows of pieces that begin within sectors: a rotary table, what it is applied to, and a padding (counted.py).
func.func @main(%angles: tensor<1x1024x1x8xf32>, %x: tensor<1x1024x8x16xbf16>, %image: tensor<8x32x16x16xf32>)
    -> (tensor<1x1024x1x16xbf16>, tensor<1x1024x8x16xbf16>, tensor<8x32x18x18xf32>) {
  %sines = stablehlo.sine %angles : tensor<1x1024x1x8xf32>
  %narrow = stablehlo.convert %sines : (tensor<1x1024x1x8xf32>) -> tensor<1x1024x1x8xbf16>
  %table = stablehlo.concatenate %narrow, %narrow, dim = 3 : (tensor<1x1024x1x8xbf16>, tensor<1x1024x1x8xbf16>) -> tensor<1x1024x1x16xbf16>
  %wide = stablehlo.broadcast_in_dim %table, dims = [0, 1, 2, 3] : (tensor<1x1024x1x16xbf16>) -> tensor<1x1024x8x16xbf16>
  %first = stablehlo.slice %x [0:1, 0:1024, 0:8, 0:8] : (tensor<1x1024x8x16xbf16>) -> tensor<1x1024x8x8xbf16>
  %second = stablehlo.slice %x [0:1, 0:1024, 0:8, 8:16] : (tensor<1x1024x8x16xbf16>) -> tensor<1x1024x8x8xbf16>
  %negative = stablehlo.negate %second : tensor<1x1024x8x8xbf16>
  %turned = stablehlo.concatenate %negative, %first, dim = 3 : (tensor<1x1024x8x8xbf16>, tensor<1x1024x8x8xbf16>) -> tensor<1x1024x8x16xbf16>
  %product = stablehlo.multiply %turned, %wide : tensor<1x1024x8x16xbf16>
  %sum = stablehlo.add %x, %product : tensor<1x1024x8x16xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %padded = stablehlo.pad %image, %zero, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<8x32x16x16xf32>, tensor<f32>) -> tensor<8x32x18x18xf32>
  return %table, %sum, %padded : tensor<1x1024x1x16xbf16>, tensor<1x1024x8x16xbf16>, tensor<8x32x18x18xf32>
}
