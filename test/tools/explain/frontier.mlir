// What less memory costs: each row is what compiling with its bound gives. These products need no panels.
// RUN: tessera explain %s --memory | FileCheck %s
// RUN: tessera explain %s --html=%t.html && FileCheck %s --check-prefix=PAGE --input-file=%t.html
// RUN: tessera compile %s -o %t.mlir --stop-after=memory --memory=245760 && FileCheck %s --check-prefix=BOUND --input-file=%t.mlir
// RUN: sed 's/%%c, %%a, contracting/%%c, %%c, contracting/' %s > %t.none.mlir && tessera explain %t.none.mlir --memory | FileCheck %s --check-prefix=NONE

// CHECK: What less memory costs, as values are computed again
// CHECK-NEXT: 256 KiB {{.*}} a step as it is
// CHECK-NEXT: 240 KiB {{.*}} a step --memory=245760: 1 value, {{[0-9.]+}}% longer
// CHECK: What is there at the peak
// PAGE: "frontier":{{\[}}[262144,{{[-+.e0-9]+}},0],[245760,{{[-+.e0-9]+}},1]]
// BOUND: exec.program @main{{.*}} arena 81920
// NONE: Nothing that could be computed again would make it less
func.func @main(%x: tensor<64x64xf32>, %v: tensor<256x64xf32>, %w: tensor<64x256xf32>) -> tensor<64x64xf32> {
  %a = stablehlo.tanh %x : tensor<64x64xf32>
  %b = stablehlo.dot_general %v, %a, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %c = stablehlo.dot_general %w, %b, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %d = stablehlo.dot_general %c, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
