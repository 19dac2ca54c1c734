// Some rows past a large matrix whose rows lie far apart: without AVX-512 the matrix is copied, by whole parts of its rows, as tiles of four
// rows would each read a line of all of them. With AVX-512 it is read where it lies.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t.out
// RUN: FileCheck %s --input-file=%t.ll
// RUN: env TESSERA_DUMP_LLVM=%t.v4.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.v4.out
// RUN: FileCheck %s --input-file=%t.v4.ll --check-prefix=WIDE

// CHECK: define i32 @few_rows
// CHECK: store <16 x float>
// CHECK: call <8 x float> @llvm.fma.v8f32
// WIDE: define i32 @few_rows
// WIDE-NOT: store <32 x float>
// WIDE: call <16 x float> @llvm.fma.v16f32
exec.kernel @few_rows(%a: tensor<16x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<16x1024xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x1024xf32>, tensor<1024x1024xf32>) -> tensor<16x1024xf32>
  exec.yield %0 : tensor<16x1024xf32>
}
