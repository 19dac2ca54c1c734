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

// 4 x 4 does not divide 1000: its 250 columns go as 63 to a device, and the last has two that do not exist.
// CHECK-LABEL: @uneven
func.func @uneven(%x: tensor<1000xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<1000xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: stablehlo.reshape %arg0 {{.*}}[{"x"}, {}]>{{.*}} -> tensor<4x250xcomplex<f32>>
  // CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [4] {{.*}} -> tensor<250x4xcomplex<f32>>
  // CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [250]
  // CHECK: %[[ROWS:.*]] = sdy.reshard %{{.*}} <@mesh, [{"x"}, {}]> : tensor<250x4xcomplex<f32>>
  // CHECK: %[[ALL:.*]] = stablehlo.pad %[[ROWS]], {{.*}} -> tensor<252x4xcomplex<f32>>
  // CHECK: %[[LINE:.*]] = stablehlo.reshape %[[ALL]] {{.*}} -> tensor<1008xcomplex<f32>>
  // CHECK: stablehlo.slice %[[LINE]] [0:1000]
  %0 = stablehlo.fft %x, type = FFT, length = [1000] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<1000xcomplex<f32>>) -> tensor<1000xcomplex<f32>>
  return %0 : tensor<1000xcomplex<f32>>
}

// 8 does not divide 2025 either: 45 rows, 6 to a device. Of an odd number of reals no two are a complex one.
// CHECK-LABEL: @odd_reals
func.func @odd_reals(%x: tensor<2025xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<1013xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  // CHECK: %[[Z:.*]] = stablehlo.complex %arg0, %{{.*}} : tensor<2025xcomplex<f32>>
  // CHECK: %[[ALL:.*]] = stablehlo.pad %[[Z]], {{.*}} -> tensor<2040xcomplex<f32>>
  // CHECK: %[[ROWS:.*]] = stablehlo.reshape %[[ALL]] {{.*}}[{"x", "y"}, {}]>{{.*}} -> tensor<136x15xcomplex<f32>>
  // CHECK: stablehlo.slice %[[ROWS]] [0:135, 0:15]
  // CHECK: stablehlo.fft %{{.*}}, type = FFT
  // Only what is asked for goes back.
  // CHECK: stablehlo.slice %{{.*}} [0:{{[0-9]+}}, 0:{{[0-9]+}}]
  // CHECK: stablehlo.slice %{{.*}} [0:1013]
  %0 = stablehlo.fft %x, type = RFFT, length = [2025] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<2025xf32>) -> tensor<1013xcomplex<f32>>
  return %0 : tensor<1013xcomplex<f32>>
}

// A prime number of points has no rows: it stays, and is gathered.
// CHECK-LABEL: @prime
func.func @prime(%x: tensor<101xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<101xcomplex<f32>> {
  // CHECK-NEXT: stablehlo.fft %arg0, type = FFT, length = [101]
  %0 = stablehlo.fft %x, type = FFT, length = [101] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<101xcomplex<f32>>) -> tensor<101xcomplex<f32>>
  return %0 : tensor<101xcomplex<f32>>
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
