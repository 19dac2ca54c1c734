// What counts is what a device holds: 32 TiB of products are 32 GiB on each of 1,024 devices, and too much for
// two, whichever way they lie.
// RUN: tessera plan %s --mesh=x=1024 --topology=h100 -o %t.mlir --report=%t.json --quiet
// RUN: FileCheck %s < %t.mlir
// RUN: not tessera plan %s --mesh=x=2 --topology=h100 -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TOO-FEW

// CHECK: {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// TOO-FEW: error: {{.*}}large-array.mlir: no plan fits into the 74.5 GiB of each device: of {{[0-9]+}} that were compiled one needs least, --memory=17593260048384, on x=2{{.*}}; no plan takes less than 16.0 TiB, which is what the program is given and gives back, in as many parts as there are devices
func.func public @main(%a: tensor<4194304x64xf32>, %b: tensor<64x2097152xf32>) -> tensor<4194304x2097152xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4194304x64xf32>, tensor<64x2097152xf32>) -> tensor<4194304x2097152xf32>
  return %0 : tensor<4194304x2097152xf32>
}
