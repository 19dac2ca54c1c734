// Neither quotients nor roots have a jump to code for rare numbers, which ptxas adds to those of its own; in f64 they do.
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

// What is known of a constant takes no instruction.
// CHECK: .visible .entry by_constant(
// CHECK-NOT: {{div|rcp}}
// CHECK: setp.lt.ftz.f32 [[SMALL:%p[0-9]+]], {{%r[0-9]+}}, 0f1F800000;
// CHECK: selp.f32 [[SCALE:%r[0-9]+]], 0f5F800000, 0f3F800000, [[SMALL]];
// CHECK: mul.rn.ftz.f32 [[SCALED:%r[0-9]+]], {{%r[0-9]+}}, [[SCALE]];
// CHECK: mul.rn.ftz.f32 [[ABOUT:%r[0-9]+]], [[SCALED]], 0f3EAAAAAB;
// CHECK: neg.ftz.f32 [[MINUS:%r[0-9]+]], [[SCALED]];
// CHECK: fma.rn.ftz.f32 [[LEFT:%r[0-9]+]], [[ABOUT]], 0f40400000, [[MINUS]];
// CHECK: min.ftz.f32 {{%r[0-9]+}}, [[LEFT]], 0f7E800000;
// CHECK: selp.f32 {{%r[0-9]+}}, 0f9C800000, 0fBC800000, [[SMALL]];
// CHECK-NOT: {{div|rcp}}
// CHECK: st.global
exec.kernel @by_constant(%x: tensor<101xf32>) -> tensor<101xf32> {
  %c = stablehlo.constant dense<-192.0> : tensor<101xf32>
  %0 = stablehlo.divide %x, %c : tensor<101xf32>
  exec.yield %0 : tensor<101xf32>
}

// Of what four elements are divided by there is one reciprocal.
// CHECK: .visible .entry by_one(
// CHECK-NOT: div.
// CHECK: max.ftz.NaN.f32
// CHECK-NEXT: rcp.approx.ftz.f32
// CHECK-NOT: {{div|rcp}}
// CHECK: .visible .entry by_anything(
// CHECK-NOT: div.
// CHECK-COUNT-4: rcp.approx.ftz.f32
// CHECK-NOT: {{div|rcp}}
exec.kernel @by_one(%x: tensor<262144xf32>, %y: tensor<f32>) -> tensor<262144xf32> {
  %everywhere = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> tensor<262144xf32>
  %0 = stablehlo.divide %x, %everywhere : tensor<262144xf32>
  exec.yield %0 : tensor<262144xf32>
}
exec.kernel @by_anything(%x: tensor<262144xf32>, %y: tensor<262144xf32>) -> tensor<262144xf32> {
  %0 = stablehlo.divide %x, %y : tensor<262144xf32>
  exec.yield %0 : tensor<262144xf32>
}

// CHECK: .visible .entry root(
// CHECK-NOT: sqrt.rn
// CHECK: rsqrt.approx.ftz.f32 [[Y:%r[0-9]+]], [[OF:%r[0-9]+]];
// CHECK: mul.rn.ftz.f32 [[ROOT:%r[0-9]+]], [[OF]], [[Y]];
// CHECK: mul.rn.ftz.f32 [[HALF:%r[0-9]+]], [[Y]], 0f3F000000;
// CHECK: setp.eq.ftz.f32 {{%p[0-9]+}}, [[HALF]], [[Y]];
exec.kernel @root(%x: tensor<101xf32>) -> tensor<101xf32> {
  %0 = stablehlo.sqrt %x : tensor<101xf32>
  exec.yield %0 : tensor<101xf32>
}

// CHECK: .visible .entry doubles(
// CHECK: rcp.rn.f64
exec.kernel @doubles(%x: tensor<101xf64>) -> tensor<101xf64> {
  %one = stablehlo.constant dense<1.0> : tensor<101xf64>
  %0 = stablehlo.divide %one, %x : tensor<101xf64>
  exec.yield %0 : tensor<101xf64>
}
