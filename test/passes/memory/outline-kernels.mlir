// Two kernels that differ in names and locations only become one; another type makes another.
// RUN: tessera-opt %s --split-input-file --tessera-outline-kernels | FileCheck %s

// CHECK: exec.kernel @exponential_0(%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
// CHECK: exec.kernel @exponential_1(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT: exec.kernel
// CHECK: exec.fused{{.*}} attributes {kernel = @exponential_0}
// CHECK: exec.fused{{.*}} attributes {kernel = @exponential_0}
// CHECK: exec.fused{{.*}} attributes {kernel = @exponential_1}
func.func @main(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.exponential %p {note = "mine"} : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %b = exec.fused(%q = %a : tensor<8xf32>) -> tensor<8xf32> {
    %1 = stablehlo.exponential %q : tensor<8xf32>
    exec.yield %1 : tensor<8xf32>
  }
  %c = exec.fused(%q = %y : tensor<4xf32>) -> tensor<4xf32> {
    %1 = stablehlo.exponential %q : tensor<4xf32>
    exec.yield %1 : tensor<4xf32>
  }
  return %b, %c : tensor<8xf32>, tensor<4xf32>
}

// -----

// Loops in kernels are others if they make other numbers of trips, though that comes from an operand.
// CHECK-LABEL: func.func @trips
// CHECK: exec.fused{{.*}} attributes {kernel = @while_0}
// CHECK: exec.fused{{.*}} attributes {kernel = @while_1}
func.func @trips(%i: tensor<i32>, %two: tensor<i32>, %three: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %a = exec.fused(%p = %i : tensor<i32>, %n = %two : tensor<i32>) -> tensor<i32> {
    %r = stablehlo.while(%j = %p) : tensor<i32> attributes {tessera.trip_count = #tessera.trip_count<2>}
    cond {
      %0 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      %1 = stablehlo.add %j, %j : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }
    exec.yield %r : tensor<i32>
  }
  %b = exec.fused(%p = %i : tensor<i32>, %n = %three : tensor<i32>) -> tensor<i32> {
    %r = stablehlo.while(%j = %p) : tensor<i32> attributes {tessera.trip_count = #tessera.trip_count<3>}
    cond {
      %0 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      %1 = stablehlo.add %j, %j : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }
    exec.yield %r : tensor<i32>
  }
  return %a, %b : tensor<i32>, tensor<i32>
}
