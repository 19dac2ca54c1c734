// A program that import rewrites is planned and written as import leaves it: a device program with collectives, one whose shapes the
// command line gives, one with GSPMD's annotations and a loop. What is written is compiled, to what --plan compiles at once.
// RUN: split-file %s %t
// RUN: %python -c "import numpy as np; np.savez('%t.npz', in0=np.arange(96, dtype=np.float32).reshape(4, 3, 8) / 50)"
// RUN: tessera plan %t/device.mlir -o %t/planned.mlir --quiet
// RUN: FileCheck %s --input-file=%t/planned.mlir
// RUN: tessera compile %t/planned.mlir -o %t/planned.tsr
// RUN: tessera compile %t/device.mlir --plan -o %t/at-once.tsr
// RUN: cmp %t/planned.tsr %t/at-once.tsr
// RUN: tessera compile %t/device.mlir -o %t/device.tsr
// RUN: tessera run %t/device.tsr --inputs=%t.npz --outputs=%t/device.npz
// RUN: tessera run %t/planned.tsr --inputs=%t.npz --outputs=%t/planned.npz
// RUN: cmp %t/planned.npz %t/device.npz
// RUN: tessera plan %t/open.mlir --devices=2 --input-shapes=in0:6x4xf32 -o %t/open-planned.mlir --quiet
// RUN: FileCheck %s --input-file=%t/open-planned.mlir
// RUN: tessera compile %t/open-planned.mlir -o %t/open-planned.tsr
// RUN: tessera compile %t/open.mlir --plan --devices=2 --input-shapes=in0:6x4xf32 -o %t/open.tsr
// RUN: cmp %t/open-planned.tsr %t/open.tsr
// RUN: tessera plan %t/gspmd.mlir -o %t/gspmd-planned.mlir --quiet
// RUN: FileCheck %s --input-file=%t/gspmd-planned.mlir
// RUN: tessera compile %t/gspmd-planned.mlir -o %t/gspmd-planned.tsr
// RUN: tessera compile %t/gspmd.mlir --plan -o %t/gspmd.tsr
// RUN: cmp %t/gspmd-planned.tsr %t/gspmd.tsr
// A ring of permutations is a shift there.
// RUN: tessera plan %t/ring.mlir -o %t/ring-planned.mlir --quiet
// RUN: FileCheck %s --input-file=%t/ring-planned.mlir --check-prefix=RING
// RUN: tessera compile %t/ring-planned.mlir -o %t/ring-planned.tsr
// RUN: tessera compile %t/ring.mlir --plan -o %t/ring.tsr
// RUN: cmp %t/ring-planned.tsr %t/ring.tsr
// RING: comm.shift
// A collective along axes is taken inside of a manual computation only, and along its manual axes.
// RUN: not tessera compile %t/outside.mlir -o %t/outside.tsr 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: tessera compile %t/inside.mlir -o %t/inside.tsr
// RUN: sed 's/over <@mesh, \["x"=2\]>/over <@mesh, ["y"=2]>/' %t/inside.mlir > %t/free.mlir
// RUN: sed 's/over <@mesh, \["x"=2\]>/over <@mesh, []>/' %t/inside.mlir > %t/alone.mlir
// RUN: sed 's/over <@mesh, \["x"=2\]>/over <@other, ["x"=2]>/' %t/inside.mlir > %t/elsewhere.mlir
// RUN: not tessera compile %t/free.mlir -o %t/outside.tsr 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not tessera compile %t/alone.mlir -o %t/outside.tsr 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not tessera compile %t/elsewhere.mlir -o %t/outside.tsr 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// CHECK-NOT: tessera.
// CHECK: func.func
// CHECK-NOT: tessera.
// OUTSIDE: error: {{.*}}'comm.all_reduce' is what a later phase of Tessera leaves
//--- device.mlir
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%a: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x2xf32>) {
    %sums = "stablehlo.all_reduce"(%a) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %t = stablehlo.tanh %sums : tensor<3x8xf32>
    %m = "stablehlo.reduce_scatter"(%a) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<3x8xf32>) -> tensor<3x2xf32>
    return %t, %m : tensor<3x8xf32>, tensor<3x2xf32>
  }
}
//--- open.mlir
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %t = stablehlo.tanh %x : tensor<?x4xf32>
  %y = stablehlo.add %t, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
//--- gspmd.mlir
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<6x4xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) -> tensor<6x4xf32> {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %trips = stablehlo.constant dense<5> : tensor<i32>
    %r:2 = stablehlo.while(%k = %i, %v = %x) : tensor<i32>, tensor<6x4xf32>
    cond {
      %c = stablehlo.compare LT, %k, %trips : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %k, %one : tensor<i32>
      %t = stablehlo.tanh %v : tensor<6x4xf32>
      stablehlo.return %next, %t : tensor<i32>, tensor<6x4xf32>
    }
    return %r#1 : tensor<6x4xf32>
  }
}
//--- outside.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %y = comm.all_reduce sum(%x) over <@mesh, ["x"=2]> : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
//--- inside.mlir
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @other = <["x"=2, "z"=2]>
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<3x4xf32>) {
    %s = comm.all_reduce sum(%p) over <@mesh, ["x"=2]> : (tensor<3x4xf32>) -> tensor<3x4xf32>
    sdy.return %s : tensor<3x4xf32>
  } : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
//--- ring.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
}
