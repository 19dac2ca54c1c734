// The whole phase: kernels leave the program, and its values lie in inputs, outputs and one arena. An all-reduce works in
// place on an operand that nobody reads after it.
// RUN: tessera-opt %s --tessera-memory | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tessera.global = tensor<16xf32>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tessera.global = tensor<8xf32>}) {
  // CHECK: exec.kernel @tanh_0(%arg0: tensor<8xf32>) -> tensor<8xf32>
  // CHECK: exec.program @main mesh @mesh arena 0 constants 0
  // CHECK-DAG: %[[IN:.*]] = exec.buffer input 0 : tensor<8xf32>
  // CHECK-DAG: %[[OUT:.*]] = exec.buffer output 0 : tensor<8xf32>
  // CHECK: exec.dispatch @tanh_0(%[[IN]]) -> (%[[OUT]])
  // CHECK-NEXT: exec.start 0 all_reduce sum over #comm.axes<@mesh, ["x"=2]>(%[[OUT]]) -> (%[[OUT]])
  // CHECK-NEXT: exec.wait 0
  %0 = exec.fused(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %2 = stablehlo.tanh %a : tensor<8xf32>
    exec.yield %2 : tensor<8xf32>
  }
  %outputs, %handle = comm.start all_reduce(%0) over <@mesh, ["x"=2]> {reduction = #comm<reduction sum>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
  %1 = comm.wait %handle(%outputs) : tensor<8xf32>
  return %1 : tensor<8xf32>
}
