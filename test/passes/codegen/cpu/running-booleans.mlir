// Rows of sixteen booleans are turned in registers, too: sixteen bits are no whole words, and nothing fences them.
// RUN: env TESSERA_DUMP_LLVM=%t.ll tessera-opt %s --tessera-set-target="target=cpu processors=x86-64-v4" --tessera-generate-code -o %t.mlir
// RUN: FileCheck %s --input-file=%t.ll

// CHECK: define i32 @any_before
// CHECK-NOT: arithmetic.fence
// CHECK: shufflevector <16 x i1>
// CHECK-NOT: arithmetic.fence
exec.kernel @any_before(%x: tensor<64x100xi1>) -> tensor<64x100xi1> {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0 = "stablehlo.reduce_window"(%x, %false) ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %1 = stablehlo.or %a, %b : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {window_dimensions = array<i64: 1, 100>, padding = dense<[[0, 0], [99, 0]]> : tensor<2x2xi64>} : (tensor<64x100xi1>, tensor<i1>) -> tensor<64x100xi1>
  exec.yield %0 : tensor<64x100xi1>
}
