// bf16 is narrowed by the processor's instruction, two numbers at once, and widened by halves of a register.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s

// Each operation rounds: what goes on is the rounded number, what is stored the pairs.
// CHECK: .visible .entry pairs(
// CHECK: ld.global.v4.b32
// CHECK-NOT: cvt.u32.u16
// CHECK: shl.b32
// CHECK: and.b32 {{.*}}, -65536;
// CHECK: cvt.rn.bf16x2.f32
// CHECK-NOT: setp.nan
// CHECK: st.global.v4.b32
exec.kernel @pairs(%x: tensor<256x4096xbf16>, %y: tensor<256x4096xbf16>) -> tensor<256x4096xbf16> {
  %0 = stablehlo.multiply %x, %y : tensor<256x4096xbf16>
  %1 = stablehlo.add %0, %x : tensor<256x4096xbf16>
  exec.yield %1 : tensor<256x4096xbf16>
}
