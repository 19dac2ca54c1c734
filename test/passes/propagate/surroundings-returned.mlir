// A value that differs between two ways is returned under an annotation: what that return costs is no part of what stands around the value, so
// the whole program is compared. Along "a" as well the difference would be gathered for the first result.
// RUN: tessera-opt %s --tessera-propagate-shardings=large-from=0 | FileCheck %s
// RUN: tessera-opt %s --tessera-propagate-shardings | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=4]>
// CHECK-LABEL: @returned
func.func @returned(%a0: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>},
                    %a1: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a", "b"}]>},
                    %a2: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
                    %a3: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                    %z: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", ?}, {"a", ?}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>},
        tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a", "b"}]>},
        tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {?}]>},
        tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", ?}]>},
        tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x64xf32>) {
  %0 = stablehlo.dot_general %a1, %a3, contracting_dims = [0] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %a2, contracting_dims = [1] x [1] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: stablehlo.transpose {{.*}}[<@mesh, [{?}, {"b", ?}]>]
  %2 = stablehlo.transpose %a3, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = sdy.sharding_constraint %a1 <@mesh, [{"a"}, {}]> : tensor<64x64xf32>
  %4 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: stablehlo.subtract {{.*}}[<@mesh, [{?}, {"b", ?}]>]
  %5 = stablehlo.subtract %a0, %2 : tensor<64x64xf32>
  %6 = stablehlo.subtract %a1, %5 : tensor<64x64xf32>
  %c0 = stablehlo.cosine %z : tensor<64x64xf32>
  %c1 = stablehlo.cosine %c0 : tensor<64x64xf32>
  %c2 = stablehlo.cosine %c1 : tensor<64x64xf32>
  %c3 = stablehlo.cosine %c2 : tensor<64x64xf32>
  %c4 = stablehlo.cosine %c3 : tensor<64x64xf32>
  %c5 = stablehlo.cosine %c4 : tensor<64x64xf32>
  %c6 = stablehlo.cosine %c5 : tensor<64x64xf32>
  %c7 = stablehlo.cosine %c6 : tensor<64x64xf32>
  %c8 = stablehlo.cosine %c7 : tensor<64x64xf32>
  %c9 = stablehlo.cosine %c8 : tensor<64x64xf32>
  %c10 = stablehlo.cosine %c9 : tensor<64x64xf32>
  %c11 = stablehlo.cosine %c10 : tensor<64x64xf32>
  %c12 = stablehlo.cosine %c11 : tensor<64x64xf32>
  %c13 = stablehlo.cosine %c12 : tensor<64x64xf32>
  %c14 = stablehlo.cosine %c13 : tensor<64x64xf32>
  %c15 = stablehlo.cosine %c14 : tensor<64x64xf32>
  %c16 = stablehlo.cosine %c15 : tensor<64x64xf32>
  %c17 = stablehlo.cosine %c16 : tensor<64x64xf32>
  %c18 = stablehlo.cosine %c17 : tensor<64x64xf32>
  %c19 = stablehlo.cosine %c18 : tensor<64x64xf32>
  return %5, %6, %1, %1, %5, %c19 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
