// What costs time, why, and what mends it; with --all every collective and every sharding with its origin.
// RUN: tessera explain %s --all | FileCheck %s
// RUN: tessera explain %s | FileCheck %s --check-prefix=SHORT
// RUN: tessera explain %s --value=%y | FileCheck %s --check-prefix=VALUE
// RUN: tessera explain %s --value=w | FileCheck %s --check-prefix=ARGUMENT
// RUN: tessera explain %s --value=layer | FileCheck %s --check-prefix=SCOPE
// RUN: tessera explain %s --memory | FileCheck %s --check-prefix=MEMORY
// RUN: tessera explain %s --line=model.py:7 | FileCheck %s --check-prefix=LINE
// RUN: not tessera explain %s --value=nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not tessera explain %s --line=model.py:1 2>&1 | FileCheck %s --check-prefix=NOLINE
// RUN: not tessera explain %s --line=model.py 2>&1 | FileCheck %s --check-prefix=BADLINE

// CHECK: 8 devices, mesh @mesh: data=2, model=4; topology "host"
// CHECK-NEXT: 1 collective at 1 place sends 3.0 KiB a device
// CHECK-NEXT: a step predicted: {{.*}} computing, {{.*}} moving ({{.*}} of it not beside computing); a device holds
// CHECK-NEXT: computing: products {{.*}}, elementwise {{.*}}
// CHECK-NEXT: at the peak: %y 2.0 KiB at model.py:7 in loss, called at train.py:3
// CHECK: #1 all-reduce over model at model.py:7 in loss, called at train.py:3: 3.0 KiB sent
// CHECK-NEXT: scope: jit(step)/layer/dot
// CHECK-NEXT: why: %y = dot_general at model.py:7 combines over what "model" splits; x is split along dimension 1 ("model" as annotated); w is split along dimension 0 ("model" as annotated)
// CHECK-NEXT: mend: with_sharding_constraint(%y, P(("data", "model"), None)) at model.py:7
// CHECK-NEXT: a step less ({{[0-9]+}}%)
// CHECK: changes of the program were compiled
// CHECK: Collectives, by time
// CHECK-NEXT: all-reduce over model, 1 time: 2.0 KiB, 3.0 KiB sent
// CHECK: Shardings
// CHECK: x argument {{.*}}[{"data"}, {"model"}]
// CHECK: %z tanh
// CHECK-NEXT: "data" from argument 0 (x), through 2 ops: tanh at model.py:8:1, dot_general at model.py:7:1

// SHORT: #1 all-reduce over model
// SHORT: every collective, conflict and sharding with --all
// SHORT-NOT: Shardings
// SCOPE: %y = dot_general
// SCOPE: %z = tanh
// MEMORY: Memory of a device: 3.0 KiB arguments, 2.0 KiB results, 0 bytes beside them
// MEMORY: What is there at the peak beside the arguments, largest first
// MEMORY: Over a step, results

// VALUE: %y = dot_general : tensor<32x32xf32>
// VALUE: at model.py:7 in loss
// VALUE: from train.py:3 in main
// VALUE: scope jit(step)/layer/dot
// VALUE: "data" from argument 0 (x), through 1 op
// VALUE: operand w = argument [{"model"}, {}]
// ARGUMENT: w = argument : tensor<64x32xf32>
// ARGUMENT: sharding [{"model"}, {}]
// LINE: %y = dot_general
// LINE-NOT: tanh
// NOTHING: error: {{.*}}no value nothing; names are
// NOLINE: error: {{.*}}line model.py:1 made nothing
// BADLINE: error: --line=model.py is not of the form FILE:N

sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("x"),
                       %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("w")) -> tensor<32x32xf32> {
  %y = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc(#dot)
  %z = stablehlo.tanh %y : tensor<32x32xf32> loc(#tanh)
  return %z : tensor<32x32xf32>
}
#dot = loc("jit(step)/layer/dot"(callsite("loss"("model.py":7:1) at "main"("train.py":3:1))))
#tanh = loc("jit(step)/layer/tanh"(callsite("loss"("model.py":8:1) at "main"("train.py":3:1))))
