// Squares of a product's right operand that are turned in registers: its rows are at constants from one place, those of a
// filter that is read backwards, too, and of a backward one columns are stored in the other order instead of being
// reversed. Of four rounds of interleaving two and two are seen by LLVM together: its time grows with all shuffles behind one.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @convolution
// CHECK: [[FIRST:%.*]] = getelementptr float, ptr %{{.*}}, i64 -15
// CHECK: [[ROW:%.*]] = getelementptr float, ptr [[FIRST]], i64 9
// CHECK-NEXT: call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 [[ROW]],
// CHECK-NEXT: [[ROW:%.*]] = getelementptr float, ptr [[FIRST]], i64 18
// CHECK-NEXT: call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 [[ROW]],
// CHECK-NOT: <i32 15, i32 14, i32 13
// CHECK-COUNT-32: shufflevector <16 x float> %{{.*}}, <16 x float> %
// CHECK-NEXT: call <16 x float> @llvm.arithmetic.fence.v16f32
// CHECK-COUNT-32: shufflevector <16 x float> %{{.*}}, <16 x float> %
// CHECK-NEXT: getelementptr float, ptr %{{.*}}, i64 240
// CHECK-NEXT: store <16 x float>
exec.kernel @convolution(%filter: tensor<128x128x3x3xf32>, %x: tensor<4x128x8x8xf32>) -> tensor<4x128x8x8xf32> {
  %0 = stablehlo.transpose %filter, dims = [2, 3, 1, 0] : (tensor<128x128x3x3xf32>) -> tensor<3x3x128x128xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[0, 1, o, i]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x128x8x8xf32>, tensor<3x3x128x128xf32>) -> tensor<4x128x8x8xf32>
  exec.yield %1 : tensor<4x128x8x8xf32>
}
