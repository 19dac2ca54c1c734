// Of a large program two ways that differ in a few values are compared where these are: around tanh, which could lie in shards of its batch or of
// its features. What is far from it (cosines) is no part of what is tried. Guards against comparing values of another number, or a part
// that no phase takes: the way that waits for the state would be dropped then.
// RUN: tessera-opt %s --tessera-propagate-shardings=large-from=0 | FileCheck %s
// RUN: tessera-opt %s --tessera-propagate-shardings | FileCheck %s

sdy.mesh @mesh = <["data"=8]>
// CHECK-LABEL: @step
func.func @step(%w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %h: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                %dy: tensor<512x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<512x64xf32>) {
  // CHECK: stablehlo.tanh {{.*}}[<@mesh, [{"data", ?}, {?}]>]
  %0 = stablehlo.tanh %h : tensor<512x64xf32>
  %1 = stablehlo.dot_general %0, %dy, contracting_dims = [0] x [0] : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<64x64xf32>
  %3 = stablehlo.cosine %dy : tensor<512x64xf32>
  %4 = stablehlo.cosine %3 : tensor<512x64xf32>
  %5 = stablehlo.cosine %4 : tensor<512x64xf32>
  %6 = stablehlo.cosine %5 : tensor<512x64xf32>
  %7 = stablehlo.cosine %6 : tensor<512x64xf32>
  %8 = stablehlo.cosine %7 : tensor<512x64xf32>
  %9 = stablehlo.cosine %8 : tensor<512x64xf32>
  %10 = stablehlo.cosine %9 : tensor<512x64xf32>
  %11 = stablehlo.cosine %10 : tensor<512x64xf32>
  %12 = stablehlo.cosine %11 : tensor<512x64xf32>
  %13 = stablehlo.cosine %12 : tensor<512x64xf32>
  %14 = stablehlo.cosine %13 : tensor<512x64xf32>
  %15 = stablehlo.cosine %14 : tensor<512x64xf32>
  %16 = stablehlo.cosine %15 : tensor<512x64xf32>
  %17 = stablehlo.cosine %16 : tensor<512x64xf32>
  %18 = stablehlo.cosine %17 : tensor<512x64xf32>
  %19 = stablehlo.cosine %18 : tensor<512x64xf32>
  %20 = stablehlo.cosine %19 : tensor<512x64xf32>
  %21 = stablehlo.cosine %20 : tensor<512x64xf32>
  %22 = stablehlo.cosine %21 : tensor<512x64xf32>
  %23 = stablehlo.cosine %22 : tensor<512x64xf32>
  %24 = stablehlo.cosine %23 : tensor<512x64xf32>
  %25 = stablehlo.cosine %24 : tensor<512x64xf32>
  %26 = stablehlo.cosine %25 : tensor<512x64xf32>
  %27 = stablehlo.cosine %26 : tensor<512x64xf32>
  %28 = stablehlo.cosine %27 : tensor<512x64xf32>
  %29 = stablehlo.cosine %28 : tensor<512x64xf32>
  %30 = stablehlo.cosine %29 : tensor<512x64xf32>
  %31 = stablehlo.cosine %30 : tensor<512x64xf32>
  %32 = stablehlo.cosine %31 : tensor<512x64xf32>
  %33 = stablehlo.cosine %32 : tensor<512x64xf32>
  %34 = stablehlo.cosine %33 : tensor<512x64xf32>
  %35 = stablehlo.cosine %34 : tensor<512x64xf32>
  %36 = stablehlo.cosine %35 : tensor<512x64xf32>
  %37 = stablehlo.cosine %36 : tensor<512x64xf32>
  %38 = stablehlo.cosine %37 : tensor<512x64xf32>
  %39 = stablehlo.cosine %38 : tensor<512x64xf32>
  %40 = stablehlo.cosine %39 : tensor<512x64xf32>
  %41 = stablehlo.cosine %40 : tensor<512x64xf32>
  %42 = stablehlo.cosine %41 : tensor<512x64xf32>
  %43 = stablehlo.cosine %42 : tensor<512x64xf32>
  %44 = stablehlo.cosine %43 : tensor<512x64xf32>
  %45 = stablehlo.cosine %44 : tensor<512x64xf32>
  %46 = stablehlo.cosine %45 : tensor<512x64xf32>
  %47 = stablehlo.cosine %46 : tensor<512x64xf32>
  %48 = stablehlo.cosine %47 : tensor<512x64xf32>
  %49 = stablehlo.cosine %48 : tensor<512x64xf32>
  %50 = stablehlo.cosine %49 : tensor<512x64xf32>
  %51 = stablehlo.cosine %50 : tensor<512x64xf32>
  %52 = stablehlo.cosine %51 : tensor<512x64xf32>
  %53 = stablehlo.cosine %52 : tensor<512x64xf32>
  %54 = stablehlo.cosine %53 : tensor<512x64xf32>
  %55 = stablehlo.cosine %54 : tensor<512x64xf32>
  %56 = stablehlo.cosine %55 : tensor<512x64xf32>
  %57 = stablehlo.cosine %56 : tensor<512x64xf32>
  %58 = stablehlo.cosine %57 : tensor<512x64xf32>
  %59 = stablehlo.cosine %58 : tensor<512x64xf32>
  %60 = stablehlo.cosine %59 : tensor<512x64xf32>
  %61 = stablehlo.cosine %60 : tensor<512x64xf32>
  %62 = stablehlo.cosine %61 : tensor<512x64xf32>
  return %2, %62 : tensor<64x64xf32>, tensor<512x64xf32>
}
