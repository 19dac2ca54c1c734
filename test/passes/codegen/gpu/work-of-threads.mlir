// Small work is all threads' work: no thread stands aside, or has what others could.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: FileCheck %s --check-prefix=GRID < %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s

// Slices of 32 rows and 16 terms: 256 threads have two elements of each, where 128 had four.
// CHECK: .visible .entry product(
// CHECK-NOT: ld.global.v4
// CHECK: ld.global.v2.b32
// CHECK: .visible .entry sorted(
exec.kernel @product(%x: tensor<48x96xf32>, %y: tensor<192x96xf32>) -> tensor<48x192xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<48x96xf32>, tensor<192x96xf32>) -> tensor<48x192xf32>
  exec.yield %0 : tensor<48x192xf32>
}

// A row of eight elements is a thread's: 48 of them are two blocks'. One thread sorted all.
// GRID: exec.kernel @sorted{{.*}} grid = 2 : i64
exec.kernel @sorted(%x: tensor<48x8xf32>) -> tensor<48x8xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<48x8xf32>) -> tensor<48x8xf32>
  exec.yield %0 : tensor<48x8xf32>
}
