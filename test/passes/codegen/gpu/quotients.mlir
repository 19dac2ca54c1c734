// Reciprocals and quotients by a constant have no jump to code for rare numbers, which ptxas adds to what it divides; others are ptxas's.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s

// CHECK: .visible .entry inverse(
// CHECK-NOT: div.
// CHECK-NOT: rcp.rn
// CHECK: rcp.approx.ftz.f32 [[Y:%r[0-9]+]], [[X:%r[0-9]+]];
// CHECK: neg.ftz.f32 [[MINUS:%r[0-9]+]], [[X]];
// CHECK: fma.rn.ftz.f32 [[LEFT:%r[0-9]+]], [[MINUS]], [[Y]], 0f3F800000;
// CHECK: min.ftz.f32 [[KNOWN:%r[0-9]+]], [[LEFT]], 0f3F800000;
// CHECK: fma.rn.ftz.f32 {{%r[0-9]+}}, [[KNOWN]], [[Y]], [[Y]];
exec.kernel @inverse(%x: tensor<101xf32>) -> tensor<101xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<101xf32>
  %0 = stablehlo.divide %one, %x : tensor<101xf32>
  exec.yield %0 : tensor<101xf32>
}

// By the reciprocal; the sign of a negative divisor goes to what is divided.
// CHECK: .visible .entry by_constant(
// CHECK-NOT: div.
// CHECK: setp.lt.ftz.f32 [[SMALL:%p[0-9]+]]
// CHECK: selp.f32 [[SCALE:%r[0-9]+]], 0f5F800000, 0f1F800000, [[SMALL]];
// CHECK: mul.rn.ftz.f32 [[SCALED:%r[0-9]+]], {{%r[0-9]+}}, [[SCALE]];
// CHECK: mul.rn.ftz.f32 {{%r[0-9]+}}, [[SCALED]], 0f3BAAAAAB;
// CHECK-NOT: div.
// CHECK: st.global
exec.kernel @by_constant(%x: tensor<101xf32>) -> tensor<101xf32> {
  %c = stablehlo.constant dense<-192.0> : tensor<101xf32>
  %0 = stablehlo.divide %x, %c : tensor<101xf32>
  exec.yield %0 : tensor<101xf32>
}

// Neither by numbers that are known only when it runs, nor by a constant that is too large.
// CHECK: .visible .entry by_anything(
// CHECK: div.rn.ftz.f32
// CHECK: div.rn.ftz.f32
exec.kernel @by_anything(%x: tensor<101xf32>, %y: tensor<101xf32>) -> tensor<101xf32> {
  %far = stablehlo.constant dense<3.3e12> : tensor<101xf32>
  %0 = stablehlo.divide %x, %y : tensor<101xf32>
  %1 = stablehlo.divide %0, %far : tensor<101xf32>
  exec.yield %1 : tensor<101xf32>
}

// CHECK: .visible .entry doubles(
// CHECK: rcp.rn.f64
exec.kernel @doubles(%x: tensor<101xf64>) -> tensor<101xf64> {
  %one = stablehlo.constant dense<1.0> : tensor<101xf64>
  %0 = stablehlo.divide %one, %x : tensor<101xf64>
  exec.yield %0 : tensor<101xf64>
}
