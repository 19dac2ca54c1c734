// What is wrong is one line.
// RUN: not tessera plan %s -o %t 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tessera plan %s --devices=0 -o %t 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tessera plan %s --devices=many -o %t 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not tessera plan %s --mesh=data -o %t 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not tessera plan %s --mesh=data=2,data=4 -o %t 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not tessera plan %s --mesh=data=2 --devices=8 -o %t 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not tessera plan %s --devices=8 --effort=9 -o %t 2>&1 | FileCheck %s --check-prefix=EFFORT
// RUN: not tessera plan %s --devices=4 --memory=1000 -o %t 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not tessera plan %s -o %t --devices=4 --topology=%t.nothing 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// RUN: not tessera compile %s -o %t --devices=4 2>&1 | FileCheck %s --check-prefix=COMPILE
// RUN: not tessera plan %S/annotated.mlir --mesh=data=2,other=2 -o %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tessera plan %S/annotated.mlir --mesh=a=2 -o %t 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not tessera plan %S/annotated.mlir --devices=8 -o %t 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not tessera plan %S/several.mlir -o %t 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not tessera plan %S/contradicting.mlir -o %t 2>&1 | FileCheck %s --check-prefix=CONTRADICTING
// RUN: not tessera plan %S/contradicting-group.mlir -o %t 2>&1 | FileCheck %s --check-prefix=OTHERWISE

// SEVERAL: error: {{.*}}several.mlir: it has values on several meshes; plans are for programs on one
// OTHERWISE: error: {{.*}}contradicting-group.mlir:{{[0-9:]+}} {{.*}}unlike the others of its sharding group
// CONTRADICTING: error: {{.*}}contradicting.mlir:{{[0-9:]+}} {{.*}}group
// NONE: error: {{.*}}mistakes.mlir: it does not say how many devices there are: give --devices=8, or --mesh=data=2,model=4
// ZERO: error: --devices=0: must be a number from 1 to 1048576
// MANY: error: --devices=many: must be a number
// AXIS: error: --mesh=data: 'data' is no axis and its size; write axes as data=2,model=4
// TWICE: error: --mesh=data=2,data=4: the axis 'data' is there twice
// BOTH: error: --mesh=data=2 has 2 devices, --devices=8 asks for others
// EFFORT: error: --effort=9: must be 1 to 5
// MEMORY: error: {{.*}}mistakes.mlir: no plan fits into the 1,000 bytes of each device: of {{[0-9]+}} that were compiled the one that was asked needs --memory=8192, on x=4 {{.*}}; no plan takes less than 8.0 KiB, which is
// TOPOLOGY: error: {{.*}}nothing
// COMPILE: error: --devices, --mesh and --effort are for --plan
// UNKNOWN: error: {{.*}}annotated.mlir: its annotations are on the mesh a=2,b=2, which has no axis 'data' of --mesh=data=2,other=2
// OTHER: error: {{.*}}annotated.mlir: its annotations are on the mesh a=2,b=2, not on --mesh=a=2
// DEVICES: error: {{.*}}annotated.mlir: its annotations are on a mesh of 4 devices (a=2,b=2), --devices=8 asks for others
func.func public @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %x : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
