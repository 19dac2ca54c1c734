// Rows that fill no vector are reduced side by side, and what is made of them goes by vectors: here an argmax of three.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @argmax
// CHECK: fcmp {{.*}} <{{16|32|64}} x float>
// CHECK-NOT: fcmp {{[a-z]+}} float
// CHECK: }
exec.kernel @argmax(%x: tensor<1024x3xf32>) -> tensor<1024xi32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<1024x3xi32>
  %r:2 = stablehlo.reduce(%x init: %least), (%places init: %zero) across dimensions = [1] : (tensor<1024x3xf32>, tensor<1024x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<1024xf32>, tensor<1024xi32>)
    reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>) {
    %1 = stablehlo.compare GT, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %b, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %a, %c : tensor<i1>, tensor<f32>
    %9 = stablehlo.select %7, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  }
  exec.yield %r#1 : tensor<1024xi32>
}
