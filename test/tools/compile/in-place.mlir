// A module is not replaced by its own program, by no name of it; and a program is told from a module.
// RUN: cp %s %t.mlir
// RUN: ln -sf %t.mlir %t.link.mlir
// RUN: not tessera compile %t.mlir -o %t.mlir 2>&1 | FileCheck %s
// RUN: not tessera compile %t.link.mlir -o %t.mlir 2>&1 | FileCheck %s
// RUN: not tessera compile %t.mlir -o %t.tsr --report=%t.mlir 2>&1 | FileCheck %s
// RUN: not tessera compile - -o %t.mlir < %t.mlir 2>&1 | FileCheck %s
// RUN: not tessera plan %t.mlir --report=%t.mlir 2>&1 | FileCheck %s
// RUN: not tessera explain %t.mlir --html=%t.mlir 2>&1 | FileCheck %s
// RUN: cmp %s %t.mlir
// CHECK: error: {{.*}}.mlir: is the module that is compiled; write to another file
// RUN: tessera compile - -o %t.tsr < %s
// RUN: not tessera compile %t.tsr -o %t.again.tsr 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not tessera explain %t.tsr 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: error: {{.*}}.tsr: is a program that is compiled already: tessera run takes it
// What a phase leaves may take the place of what it was given.
// RUN: tessera compile %t.mlir -o %t.mlir --stop-after=propagate
// RUN: FileCheck %s --check-prefix=PHASE < %t.mlir
// PHASE: func.func @main
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
