// RUN: tessera-opt %s --tessera-inline-calls --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// An inlined operation says where it stands and where it was called from, call by call, so that diagnostics can.

// CHECK: stablehlo.sine %arg0 : tensor<4xf32> loc(callsite("body"("f.py":1:1) at callsite("outer"("f.py":2:1) at "entry"("f.py":3:1))))
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("entry"("f.py":3:1))
  return %0 : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("outer"("f.py":2:1))
  return %0 : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32> loc("body"("f.py":1:1))
  return %0 : tensor<4xf32>
}
