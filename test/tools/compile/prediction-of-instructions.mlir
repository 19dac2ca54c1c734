// What each kind of instruction adds to a predicted step: 2 ms for a collective and for a copy to the host, 1 ms for a launch, nothing else.
//   the function's launches 2, five trips of a launch beside a collective 10, the longer block 3, a launch beside a copy 2
// RUN: echo '{"alpha": 2e-3, "beta": 1e15, "flops": 1e15, "memory": 1e15, "launch": 1e-3, "spaces": {"host": {"from_device": 8000, "to_device": 1e9}}}' > %t.machine.json
// RUN: tessera compile %s -o %t.tsr --topology=%t.machine.json --report=%t.json --predicted-trace=%t.trace.json --quiet
// RUN: %python -c "import json; p = json.load(open('%t.json'))['predicted']; print(*(f'{k}={p[k] * 1e3:.3f}' for k in ('seconds', 'communication', 'exposed', 'overhead')))" | FileCheck %s
// CHECK: seconds=17.000 communication=12.000 exposed=6.000 overhead=11.000
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.trace.json
// TRACE-DAG: "name":"thread_name"{{.*}}"name":"links along x"
// TRACE-DAG: "name":"thread_name"{{.*}}"name":"copies to the host"
// TRACE-DAG: "name":"wait all_reduce"
// TRACE-DAG: "name":"wait copy"
sdy.mesh @mesh = <["x"=2]>

exec.kernel @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  exec.yield %0 : tensor<4xf32>
}

exec.program @main mesh @mesh arena 192 host 64 constants 0
    inputs [#exec.param<name = "x", local = tensor<4xf32>, global = tensor<8xf32>, sharding = #sdy.sharding<@mesh, [{"x"}]>>,
            #exec.param<name = "i", local = tensor<i32>, global = tensor<i32>>]
    outputs [#exec.param<name = "y", local = tensor<4xf32>, global = tensor<4xf32>>] {
  exec.function @quadruple reads [tensor<4xf32>] writes [tensor<4xf32>] {
    %a = exec.buffer argument 0 : tensor<4xf32>
    %b = exec.buffer argument 1 : tensor<4xf32>
    %t = exec.buffer arena at 0 : tensor<4xf32>
    exec.dispatch @double(%a) -> (%t)
    exec.dispatch @double(%t) -> (%b)
  }
  %x = exec.buffer input 0 : tensor<4xf32>
  %i = exec.buffer input 1 : tensor<i32>
  %y = exec.buffer arena at 64 : tensor<4xf32>
  %z = exec.buffer arena at 128 : tensor<4xf32>
  %h = exec.buffer host at 0 : tensor<4xf32>
  %o = exec.buffer output 0 : tensor<4xf32>
  exec.call @quadruple(%x) -> (%y)
  exec.loop 5 {
    exec.start 0 all_reduce sum over #comm.axes<@mesh, ["x"=2]> (%y) -> (%o)
    exec.dispatch @double(%x) -> (%z)
    exec.wait 0
  }
  exec.branch %i {
    exec.dispatch @double(%x) -> (%z)
  }, {
    exec.dispatch @double(%x) -> (%z)
    exec.dispatch @double(%x) -> (%z)
    exec.dispatch @double(%x) -> (%z)
  }
  exec.copy_start 1 %y to %h
  exec.dispatch @double(%x) -> (%z)
  exec.wait 1
}
