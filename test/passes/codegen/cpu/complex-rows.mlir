// Rows of complex numbers, whose parts lie two apart, are read by whole vectors and not element by element, in sums by several registers too.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @product
// CHECK-NOT: masked.gather
// CHECK: fmul <64 x float>
// CHECK-NOT: masked.gather
// CHECK: }
exec.kernel @product(%a: tensor<64x1024xcomplex<f32>>, %x: tensor<1024xcomplex<f32>>) -> tensor<64xcomplex<f32>> {
  %0 = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<64x1024xcomplex<f32>>, tensor<1024xcomplex<f32>>) -> tensor<64xcomplex<f32>>
  exec.yield %0 : tensor<64xcomplex<f32>>
}
