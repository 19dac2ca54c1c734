// Numbers that fit have 32 bits, up to where an address in global memory is added; those of larger arrays don't.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s

// Columns of a row that is no power of two: the digits of a number below 300,000.
// CHECK: .visible .entry turned(
// CHECK-NOT: {{(shl|and|or|xor|mov)}}.b64
// CHECK-NOT: {{(shr|mul.lo|mul.hi|setp.*)}}.{{[us]}}64
// CHECK: ld.global.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}+3996];
// CHECK-NEXT: mad.lo.s32
// CHECK-NEXT: mul.wide.u32
// CHECK-NEXT: add.s64
// CHECK-NEXT: st.global
exec.kernel @turned(%x: tensor<300x1000xf32>) -> tensor<1000x300xf32> {
  %0 = stablehlo.reverse %x, dims = [1] : tensor<300x1000xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<300x1000xf32>) -> tensor<1000x300xf32>
  exec.yield %1 : tensor<1000x300xf32>
}

// More than 2^32 elements.
// CHECK: .visible .entry far(
// CHECK: setp.gt.u64 {{.*}}, 4900069999;
// CHECK: mul.hi.u64
// CHECK: st.global
exec.kernel @far(%x: tensor<70000xi8>) -> tensor<70000x70001xi8> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<70000xi8>) -> tensor<70000x70001xi8>
  exec.yield %0 : tensor<70000x70001xi8>
}
