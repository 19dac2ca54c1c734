// Results of 16 MiB and more go past the caches, what their kernel has of each row beside them or not: one number a row is stored
// as ever, and so are smaller results.
// RUN: split-file %s %t
// RUN: env TESSERA_DUMP_LLVM=%t/large.ll tessera-opt %t/large.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/large.out
// RUN: FileCheck %s --input-file=%t/large.ll --check-prefix=LARGE
// RUN: env TESSERA_DUMP_LLVM=%t/small.ll tessera-opt %t/small.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/small.out
// RUN: FileCheck %s --input-file=%t/small.ll --check-prefix=SMALL
// RUN: env TESSERA_DUMP_LLVM=%t/start.ll tessera-opt %t/start.mlir --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t/start.out
// RUN: FileCheck %s --input-file=%t/start.ll --check-prefix=START
// RUN: FileCheck %s --input-file=%t/start.out --check-prefix=STRIPS
// RUN: env TESSERA_DUMP_LLVM=%t/halves.ll tessera-opt %t/halves.mlir --tessera-set-target="target=cpu processors=x86-64-v3" --tessera-generate-code -o %t/halves.out
// RUN: FileCheck %s --input-file=%t/halves.ll --check-prefix=HALVES

//--- large.mlir
// LARGE: define i32 @large
// LARGE: store float %{{.*}}, ptr %{{[^!]*$}}
// LARGE: store <64 x float> {{.*}}, !nontemporal
exec.kernel @large(%x: tensor<2048x2048xf32>) -> (tensor<2048xf32>, tensor<2048x2048xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<2048xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2048xf32>) -> tensor<2048x2048xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2048x2048xf32>
  exec.yield %0, %2 : tensor<2048xf32>, tensor<2048x2048xf32>
}

//--- small.mlir
// SMALL: define i32 @small
// SMALL-NOT: !nontemporal
exec.kernel @small(%x: tensor<1024x2048xf32>) -> (tensor<1024xf32>, tensor<1024x2048xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x2048xf32>, tensor<f32>) -> tensor<1024xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1024xf32>) -> tensor<1024x2048xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<1024x2048xf32>
  exec.yield %0, %2 : tensor<1024xf32>, tensor<1024x2048xf32>
}

//--- start.mlir
// A scatter's start goes past the caches, its updates, which read what is there, do not. A cell has 512 bytes of each row.
// STRIPS: grid = 8 : i64
// START: define i32 @start
// START: store <64 x float> zeroinitializer, {{.*}}, !nontemporal
// START: fadd <64 x float>
// START-NOT: !nontemporal
// START: call void @llvm.x86.sse.sfence
exec.kernel @start(%i: tensor<64x1xi32>, %u: tensor<64x1024xf32>) -> tensor<4096x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<4096x1024xf32>
  %0 = "stablehlo.scatter"(%zero, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4096x1024xf32>, tensor<64x1xi32>, tensor<64x1024xf32>) -> tensor<4096x1024xf32>
  exec.yield %0 : tensor<4096x1024xf32>
}

//--- halves.mlir
// Where a step is one register of 32 bytes, the next one fills the line.
// HALVES: define i32 @halves
// HALVES: store <8 x float> {{.*}}, align 32, !nontemporal
exec.kernel @halves(%x: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = stablehlo.exponential %x : tensor<2048x2048xf32>
  %1 = stablehlo.exponential %0 : tensor<2048x2048xf32>
  exec.yield %1 : tensor<2048x2048xf32>
}
