// A shift by a constant below the width is the processor's; by another number it is chosen what is left.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @shifts
// CHECK-NOT: freeze
// CHECK: shl <{{.*}} x i32> %{{.*}}, splat (i32 13)
// CHECK-NOT: freeze
// CHECK: lshr <{{.*}} x i32> %{{.*}}, splat (i32 19)
// CHECK-NOT: freeze
// CHECK: shl <{{.*}} x i32> %{{.*}}, %{{.*}}
// CHECK: freeze
// CHECK: select
exec.kernel @shifts(%x: tensor<64xui32>, %y: tensor<64xui32>) -> (tensor<64xui32>, tensor<64xui32>) {
  %left = stablehlo.constant dense<13> : tensor<64xui32>
  %right = stablehlo.constant dense<19> : tensor<64xui32>
  %0 = stablehlo.shift_left %x, %left : tensor<64xui32>
  %1 = stablehlo.shift_right_logical %x, %right : tensor<64xui32>
  %2 = stablehlo.or %0, %1 : tensor<64xui32>
  %3 = stablehlo.shift_left %x, %y : tensor<64xui32>
  exec.yield %2, %3 : tensor<64xui32>, tensor<64xui32>
}
