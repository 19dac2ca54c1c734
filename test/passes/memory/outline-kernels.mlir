// Two kernels that differ in names and locations only become one; another type makes another.
// RUN: tessera-opt %s --tessera-outline-kernels | FileCheck %s

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
