// --stop-after writes the module as that phase leaves it; --print-after prints it and goes on.
// RUN: tessera compile %s -o - --stop-after=import --verify-each | FileCheck %s
// RUN: tessera compile %s -o %t.mlir --stop-after=import --print-after=import --entry=other | FileCheck %s --check-prefix=OTHER
// RUN: not tessera compile %s -o %t.mlir --stop-after=import --print-after=fuse 2>&1 | FileCheck %s --check-prefix=LATER
// LATER: error: --print-after=fuse: comes after --stop-after=import
// RUN: FileCheck %s --check-prefix=OTHER < %t.mlir

// CHECK: func.func @main(%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
// Another entry takes the name main.
// OTHER: func.func @main(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// OTHER-NOT: tensor<8xf32>
func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// Bytecode is read like text.
// RUN: tessera-opt %s --emit-bytecode -o %t.mlirbc
// RUN: tessera compile %t.mlirbc -o - --stop-after=import | FileCheck %s

// An output that is a link stays one, as /dev/stdout does.
// RUN: rm -f %t.link && ln -s %t.linked %t.link && touch %t.linked
// RUN: tessera compile %s -o %t.link --stop-after=import && test -L %t.link && FileCheck %s < %t.linked
