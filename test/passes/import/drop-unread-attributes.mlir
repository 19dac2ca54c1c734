// What no phase reads goes; what stands on the list of dialects/tessera/KnownAttributes.cpp stays. Wrong would be a note that is
// copied along by some passes and not by others.
// RUN: tessera-opt %s --tessera-drop-unread-attributes | FileCheck %s

// CHECK: module @jit_f attributes {mhlo.num_partitions = 1 : i32}
module @jit_f attributes {mhlo.num_partitions = 1 : i32, execution.kind = 1, torch.version = "2"} {
// CHECK: func.func public @main(%arg0: tensor<8xf32> {jax.buffer_donor = true}) -> (tensor<8xf32> {jax.result_info = "y"}) {
func.func public @main(%x: tensor<8xf32> {jax.buffer_donor = true, my.arg = 1}) -> (tensor<8xf32> {jax.result_info = "y", my.note = "r"})
    attributes {execution_thread = "main"} {
  // CHECK: stablehlo.tanh %arg0 {mhlo.frontend_attributes = {a = "b"}} : tensor<8xf32>
  %0 = stablehlo.tanh %x {my.note = "hot", mhlo.frontend_attributes = {a = "b"}, plain} : tensor<8xf32>
  // CHECK: stablehlo.while
  // CHECK-NOT: inside
  %1 = stablehlo.while(%a = %0) : tensor<8xf32>
    cond {
      %b = stablehlo.constant {inside} dense<false> : tensor<i1>
      stablehlo.return %b : tensor<i1>
    } do {
      stablehlo.return %a : tensor<8xf32>
    }
  return %1 : tensor<8xf32>
}
}
