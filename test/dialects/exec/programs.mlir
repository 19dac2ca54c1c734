// Several programs, each for devices of its own, and what joins them; spaces beside the arena; functions; copies that go on
// beside other instructions: all print as they parse.
// RUN: tessera-opt %s --mlir-elide-resource-strings-if-larger=8 | tessera-opt --mlir-elide-resource-strings-if-larger=8 | FileCheck %s

sdy.mesh @stage = <["x"=2]>

// CHECK: exec.channel @activations from @first to @second : tensor<8xf32>
exec.channel @activations from @first to @second : tensor<8xf32>
// CHECK: exec.channel @crossed from @second to @first : tensor<8xf32> {source_target = array<i64: 0, 1, 1, 0>}
exec.channel @crossed from @second to @first : tensor<8xf32> {source_target = array<i64: 0, 1, 1, 0>}

// CHECK: exec.program @first mesh @stage devices [0, 2] arena 64 host 32 file 96 constants 0 inputs
// CHECK-SAME: memory = host
exec.program @first mesh @stage devices [0, 2] arena 64 host 32 file 96 constants 0
    inputs [#exec.param<name = "x", local = tensor<8xf32>, global = tensor<8xf32>, memory = host>] outputs [] {
  // CHECK: exec.function @twice reads [tensor<8xf32>] writes [tensor<8xf32>] {
  // CHECK-NEXT: %[[A:.*]] = exec.buffer argument 0 : tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = exec.buffer argument 1 : tensor<8xf32>
  // CHECK-NEXT: exec.copy %[[A]] to %[[B]]
  exec.function @twice reads [tensor<8xf32>] writes [tensor<8xf32>] {
    %a = exec.buffer argument 0 : tensor<8xf32>
    %b = exec.buffer argument 1 : tensor<8xf32>
    exec.copy %a to %b
  }
  // CHECK: exec.buffer host at 0 : tensor<8xf32>
  // CHECK-NEXT: exec.buffer file at 64 : tensor<8xf32>
  %x = exec.buffer input 0 : tensor<8xf32>
  %h = exec.buffer host at 0 : tensor<8xf32>
  %f = exec.buffer file at 64 : tensor<8xf32>
  %t = exec.buffer arena at 0 : tensor<8xf32>
  %u = exec.buffer arena at 32 : tensor<8xf32>
  %part = exec.buffer arena at 32 : tensor<2xf32>
  %index = exec.buffer arena at 40 : tensor<i32>
  exec.copy %x to %t
  // CHECK: exec.copy_start 5 %{{.*}} to %{{.*}}
  exec.copy_start 5 %t to %f
  exec.wait 5
  // CHECK: exec.copy_start 5 %{{.*}} to %{{.*}} at %{{.*}} step 4
  exec.copy_start 5 %t to %part at %index step 4
  exec.wait 5
  // CHECK: exec.call @twice(%{{.*}}) -> (%{{.*}})
  exec.call @twice(%t) -> (%u)
  // CHECK: exec.send 6 @activations(%{{.*}})
  exec.send 6 @activations (%u)
  exec.wait 6
}
// CHECK: exec.program @second mesh @stage devices [1, 3] arena 64 constants 0
exec.program @second mesh @stage devices [1, 3] arena 64 constants 0 inputs [] outputs [] {
  %t = exec.buffer arena at 0 : tensor<8xf32>
  // CHECK: exec.receive 0 @activations -> (%{{.*}})
  exec.receive 0 @activations -> (%t)
  exec.wait 0
}
// CHECK: exec.image "cpu" for "x86-64-v3" ["avx2", "fma"] dense<0> : tensor<4xi8>
exec.image "cpu" for "x86-64-v3" ["avx2", "fma"] dense<0> : tensor<4xi8>
// CHECK: exec.image "cpu" for "x86-64" [] dense<0> : tensor<4xi8> {grids = array<i64: 4>}
exec.image "cpu" for "x86-64" [] dense<0> : tensor<4xi8> {grids = array<i64: 4>}
// CHECK: exec.image "cuda" for "sm_90a" [] dense<0> : tensor<4xi8> {launches = [#exec.launch<threads = 288, shared_bytes = 2048, maps = [#exec.tensor_map<operand = 1, type = bf16, sizes = [64, 8], strides = [128], box = [64, 8]>]>]}
exec.image "cuda" for "sm_90a" [] dense<0> : tensor<4xi8> {launches = [#exec.launch<threads = 288, shared_bytes = 2048, maps = [#exec.tensor_map<operand = 1, type = bf16, sizes = [64, 8], strides = [128], box = [64, 8]>]>]}
