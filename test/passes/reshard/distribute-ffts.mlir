// RUN: tessera-opt %s --tessera-distribute-ffts | FileCheck %s
// A transform along a sharded dimension sends each element three times instead of everything to everybody.

module attributes {tessera.topology = #tessera.topology<alpha = 0.0, beta = 1.0e+06>} {
sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK-LABEL: @four_steps
func.func @four_steps(%x: tensor<64xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<64xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: %[[ROWS:.*]] = stablehlo.reshape %arg0 {{.*}}[{"x"}, {}]>{{.*}} -> tensor<4x16xcomplex<f32>>
  // CHECK: %[[ONE:.*]] = sdy.reshard %[[ROWS]] <@mesh, [{}, {"x"}]>
  // CHECK: stablehlo.transpose %[[ONE]], dims = [1, 0]
  // CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [4]
  // Roots of each point's own: wrong would be all of them on every shard.
  // CHECK: stablehlo.iota dim = 0 {{.*}}[{"x"}, {}]>{{.*}} : tensor<16x4xi32>
  // CHECK: stablehlo.constant {{.*}} dense<-0.098174770424681035> : tensor<16x4xf64>
  // CHECK: stablehlo.multiply %{{.*}} : tensor<16x4xcomplex<f32>>
  // CHECK: sdy.reshard %{{.*}} <@mesh, [{"x"}, {}]> : tensor<4x16xcomplex<f32>>
  // CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [16]
  // CHECK: sdy.reshard %{{.*}} <@mesh, [{"x"}, {}]> : tensor<16x4xcomplex<f32>>
  // CHECK: stablehlo.reshape {{.*}}[{"x"}]>{{.*}} -> tensor<64xcomplex<f32>>
  // CHECK-NOT: reshard
  // CHECK: return
  %0 = stablehlo.fft %x, type = FFT, length = [64] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<64xcomplex<f32>>) -> tensor<64xcomplex<f32>>
  return %0 : tensor<64xcomplex<f32>>
}

// 4 x 4 does not divide 72: it stays, and is gathered.
// CHECK-LABEL: @uneven
func.func @uneven(%x: tensor<72xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<72xcomplex<f32>> {
  // CHECK-NEXT: stablehlo.fft %arg0, type = FFT, length = [72]
  %0 = stablehlo.fft %x, type = FFT, length = [72] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<72xcomplex<f32>>) -> tensor<72xcomplex<f32>>
  return %0 : tensor<72xcomplex<f32>>
}

// Of two dimensions the sharded one goes last. Wrong would be the real transform behind a complex one.
// CHECK-LABEL: @two
func.func @two(%x: tensor<6x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<6x6xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK: %[[R:.*]] = stablehlo.fft %arg0, type = RFFT, length = [10] {{.*}}[{"y"}, {}]
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0] {{.*}}[{}, {"y"}]
  // CHECK: %[[C:.*]] = stablehlo.fft %[[T]], type = FFT, length = [6] {{.*}}[{}, {"y"}]
  // CHECK: stablehlo.transpose %[[C]], dims = [1, 0] {{.*}}[{"y"}, {}]
  %0 = stablehlo.fft %x, type = RFFT, length = [6, 10] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<6x10xf32>) -> tensor<6x6xcomplex<f32>>
  return %0 : tensor<6x6xcomplex<f32>>
}
}
