// explain --plan says what each choice of a plan is worth; of the planned program, whose annotations are
// the choices, the same.
// RUN: tessera explain %s --plan --devices=8 > %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: tessera plan %s --devices=8 -o %t.mlir --quiet
// RUN: tessera explain %t.mlir --plan > %t.again.txt
// RUN: grep 'next best' %t.txt | sed 's/.*: next best//' > %t.prices
// RUN: grep 'next best' %t.again.txt | sed 's/.*: next best//' | diff %t.prices -
// RUN: tessera explain %t.mlir --plan --html=%t.html
// RUN: FileCheck %s --check-prefix=PAGE < %t.html
// RUN: not tessera explain %s --devices=8 2>&1 | FileCheck %s --check-prefix=WRONG
// Without --plan nothing was decided.
// RUN: tessera explain %t.mlir | FileCheck %s --check-prefix=PLAIN

// CHECK: planned.mlir: 8 devices, mesh @mesh:
// CHECK: What was decided, and what other choices would cost
// CHECK-DAG: {{^}}  %x  P("x", None): next best P({{.*}}), +{{[0-9.]+}}% (
// CHECK-DAG: {{^}}  %w1  P(None, None): next best P({{.*}}), +{{[0-9.]+}}% (
// PAGE: "decisions":{{.}}{{.}}"%{{.*}}","P(
// WRONG: error: --devices, --mesh and --effort are for --plan
// PLAIN-NOT: What was decided
func.func public @main(%x: tensor<256x512xf32>, %w1: tensor<512x1024xf32>, %w2: tensor<1024x512xf32>) -> tensor<256x512xf32> {
  %h = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %a = stablehlo.tanh %h : tensor<256x1024xf32>
  %y = stablehlo.dot_general %a, %w2, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x512xf32>) -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}
