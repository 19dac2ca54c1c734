// Device programs as a person writes them: a pipeline of two stages, each on two devices, a function, a way through a file. They are
// compiled from the phase memory on, packaged together, and run; the numbers are those of one program.
// RUN: tessera compile %s -o %t.tsr --report=%t.json | FileCheck %s --check-prefix=DIGEST
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: tessera info %t.tsr | FileCheck %s --check-prefix=INFO
// RUN: %python -c "import numpy as np; np.savez('%t.in.npz', in0=np.arange(8, dtype=np.float32))"
// RUN: tessera run %t.tsr --inputs=%t.in.npz --outputs=%t.out.npz --report=%t.run.json --repeat=3
// RUN: %python %s.py %t.out.npz %t.json %t.run.json
// RUN: env TESSERA_TARGET=shadow tessera run %t.tsr --inputs=%t.in.npz --outputs=%t.out.npz --report=%t.run.json --repeat=3
// RUN: %python %s.py %t.out.npz %t.json %t.run.json
// RUN: echo '{"alpha": 1e-5, "beta": 1e9}' > %t.links.json
// RUN: not tessera run %t.tsr --topology=%t.links.json 2>&1 | FileCheck %s --check-prefix=LINKS
// LINKS: error: {{.*}}a topology simulates the links of one mesh, and the file has 2 programs
// RUN: not tessera compile %s -o %t.tsr --entry=main --stop-after=nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// DIGEST: {{^[0-9a-f]+  .*\.tsr}}
// REPORT: "kind": "send"
// REPORT: "program": "first"
// REPORT: "kind": "receive"
// REPORT: "program": "second"
// REPORT: "devices": 4
// INFO: for 4 devices
// INFO: code for cpu {{.*}}, which this machine takes:
// INFO: program first
// INFO-NEXT: devices: 0, 2, mesh x=2
// INFO-NEXT: inputs (1):
// INFO-NEXT: x  f32[8]  sharded [x], tiles [4]
// INFO-NEXT: outputs (0):
// INFO-NEXT: memory of a device: inputs 16 bytes, outputs 0 bytes, arena 192 bytes, scratch {{.*}}, constants 0 bytes, in a file 128 bytes
// INFO: send: 3 from 1 place, 0 bytes
// INFO: program second
// INFO-NEXT: devices: 1, 3, mesh x=2
// INFO: y    f32[8]  sharded [x], tiles [4]
// INFO-NEXT: sum  f32[4]  whole on every device
// INFO: all_reduce: 1 from 1 place, 16 bytes
// INFO-NEXT: receive: 3 from 1 place, 48 bytes
// INFO: channel activations: from first to second, f32[4]
// PHASE: error: --stop-after=nowhere: no such phase
sdy.mesh @stage = <["x"=2]>
exec.channel @activations from @first to @second : tensor<4xf32>

exec.kernel @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  exec.yield %0 : tensor<4xf32>
}
exec.kernel @increment(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %one : tensor<4xf32>
  exec.yield %0 : tensor<4xf32>
}

exec.program @first mesh @stage devices [0, 2] arena 192 file 128 constants 0
    inputs [#exec.param<name = "x", local = tensor<4xf32>, global = tensor<8xf32>, sharding = #sdy.sharding<@stage, [{"x"}]>>]
    outputs [] {
  exec.function @quadruple reads [tensor<4xf32>] writes [tensor<4xf32>] {
    %a = exec.buffer argument 0 : tensor<4xf32>
    %b = exec.buffer argument 1 : tensor<4xf32>
    %t = exec.buffer arena at 0 : tensor<4xf32>
    exec.dispatch @double(%a) -> (%t)
    exec.dispatch @double(%t) -> (%b)
  }
  %x = exec.buffer input 0 : tensor<4xf32>
  %y = exec.buffer arena at 64 : tensor<4xf32>
  %z = exec.buffer arena at 128 : tensor<4xf32>
  %f = exec.buffer file at 64 : tensor<4xf32>
  exec.call @quadruple(%x) -> (%y)
  exec.copy_start 3 %y to %f
  exec.wait 3
  exec.copy_start 3 %f to %z
  exec.wait 3
  exec.loop 3 {
    exec.send 4 @activations (%z)
    exec.wait 4
  }
}

exec.program @second mesh @stage devices [1, 3] arena 64 constants 0 inputs []
    outputs [#exec.param<name = "y", local = tensor<4xf32>, global = tensor<8xf32>, sharding = #sdy.sharding<@stage, [{"x"}]>>,
             #exec.param<name = "sum", local = tensor<4xf32>, global = tensor<4xf32>>] {
  %t = exec.buffer arena at 0 : tensor<4xf32>
  %y = exec.buffer output 0 : tensor<4xf32>
  %sum = exec.buffer output 1 : tensor<4xf32>
  exec.loop 3 {
    exec.receive 0 @activations -> (%t)
    exec.wait 0
    exec.dispatch @increment(%t) -> (%y)
  }
  exec.start 1 all_reduce sum over #comm.axes<@stage, ["x"=2]> (%y) -> (%sum)
  exec.wait 1
}
