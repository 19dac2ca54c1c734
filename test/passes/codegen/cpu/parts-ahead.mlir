// Rows whose sums are in memory are asked for ahead: with each of them a row of sums is written, beside which memory's own prefetching
// does not keep up. Rows four of which are added up in registers, as where a kernel makes more sums than it reads arrays, are asked for by nobody.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/rows.ll tessera-opt %t/rows.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/rows.out
// RUN: FileCheck %s --input-file=%t/rows.ll --check-prefix=ROWS
// RUN: env TESSERA_DUMP_LLVM=%t/fours.ll tessera-opt %t/fours.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/fours.out
// RUN: FileCheck %s --input-file=%t/fours.ll --check-prefix=FOURS

//--- rows.mlir
// ROWS: define i32 @rows
// ROWS: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
exec.kernel @rows(%x: tensor<4096x128xf32>) -> tensor<64x128xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 64, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {tessera.parts = 64 : i64} : (tensor<4096x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  exec.yield %0 : tensor<64x128xf32>
}

//--- fours.mlir
// FOURS: define i32 @fours
// FOURS-NOT: call void @llvm.prefetch
exec.kernel @fours(%x: tensor<4096x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 64, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {tessera.parts = 64 : i64} : (tensor<4096x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  %1 = stablehlo.multiply %x, %x : tensor<4096x128xf32>
  %2 = "stablehlo.reduce_window"(%1, %zero) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 64, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {tessera.parts = 64 : i64} : (tensor<4096x128xf32>, tensor<f32>) -> tensor<64x128xf32>
  exec.yield %0, %2 : tensor<64x128xf32>, tensor<64x128xf32>
}
