// Code for several processors is an image each, in the target's order, for the same kernels. A product has another number of
// cells and other panels where vectors are wider: the grid and the scratch do for both.
// RUN: split-file %s %t
// RUN: tessera-opt %t/dot.mlir --tessera-set-target="processors=x86-64,x86-64-v4" --tessera-codegen-cpu -o %t/both.mlir
// RUN: tessera-opt %t/dot.mlir --tessera-set-target="processors=x86-64" --tessera-codegen-cpu -o %t/narrow.mlir
// RUN: tessera-opt %t/dot.mlir --tessera-set-target="processors=x86-64-v4" --tessera-codegen-cpu -o %t/wide.mlir
// RUN: FileCheck %s --input-file=%t/both.mlir
// RUN: FileCheck %s --input-file=%t/narrow.mlir --check-prefix=NARROW
// RUN: FileCheck %s --input-file=%t/wide.mlir --check-prefix=WIDE

// NARROW: grid = {{[0-9]+}} : i64
// NARROW: exec.image "cpu" for "x86-64" []
// NARROW-NOT: exec.image
// WIDE: grid = {{[0-9]+}} : i64
// WIDE: exec.image "cpu" for "x86-64-v4" [
// CHECK: exec.kernel @dot
// CHECK-SAME: flops = {{.*}}, grid = {{[0-9]+}} : i64, scratch_bytes = {{[0-9]+}} : i64
// CHECK: exec.image "cpu" for "x86-64-v4" ["sse3"{{.*}}] dense_resource<exec_code> : tensor<{{[0-9]+}}xi8>
// CHECK-NEXT: exec.image "cpu" for "x86-64" [] dense_resource<exec_code_1> : tensor<{{[0-9]+}}xi8>

//--- dot.mlir
exec.kernel @dot(%a: tensor<300x257xf32>, %b: tensor<1003x257xf32>) -> tensor<300x1003xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<300x257xf32>, tensor<1003x257xf32>) -> tensor<300x1003xf32>
  exec.yield %0 : tensor<300x1003xf32>
}
