// A sort that names no dimension sorts along the last one, here by a comparator that uses a value around it.
// RUN: tessera compile %s -o %t.tsr
// RUN: %python -c "import numpy; numpy.savez('%t.npz', in0=numpy.array([[3, 1, 2], [-1, 5, 0]], 'i1'), in1=numpy.array(-1, 'i1'))"
// RUN: tessera run %t.tsr --inputs=%t.npz --outputs=%t.out.npz
// RUN: %python -c "import numpy; print(numpy.load('%t.out.npz')['out0'].tolist())" | FileCheck %s
// CHECK: {{\[\[}}3, 2, 1], [5, 0, -1{{\]\]}}
func.func public @main(%x: tensor<2x3xi8>, %around: tensor<i8>) -> tensor<2x3xi8> {
  %sorted = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %left = stablehlo.xor %a, %around : tensor<i8>
    %right = stablehlo.xor %b, %around : tensor<i8>
    %less = stablehlo.compare LT, %left, %right : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<2x3xi8>) -> tensor<2x3xi8>
  return %sorted : tensor<2x3xi8>
}
