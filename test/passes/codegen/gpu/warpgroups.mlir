// Products of bf16 on sm_90a by warpgroups, whose operands come by copies of boxes; the launch says how those lie.
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_80,sm_90a" --tessera-codegen-gpu | FileCheck %s
// RUN: tessera-opt %s --tessera-set-target="target=cuda:sm_90a" --tessera-codegen-gpu -o %t.mlir
// RUN: %python %S/ptx_of.py %t.mlir | FileCheck %s --check-prefix=CODE

// The kernels' grids are those of the first image, and the other's stand there where they differ.
// CHECK: exec.kernel @product{{.*}} grid = 130 : i64
// CHECK: exec.image "cuda" for "sm_90a" {{.*}} {launches = [#exec.launch<threads = 288, shared_bytes = 131136, maps = [
// CHECK-SAME: #exec.tensor_map<operand = 0, type = bf16, sizes = [200, 128, 130], strides = [400, 51200], box = [64, 128, 1]>,
// CHECK-SAME: #exec.tensor_map<operand = 1, type = bf16, sizes = [128, 200, 130], strides = [256, 51200], box = [64, 64, 1]>]>,
// CHECK-SAME: #exec.launch<threads = 
// CHECK-NOT: shared_bytes
// CHECK: exec.image "cuda" for "sm_80"
// CHECK-NOT: tensor_map

// CODE: .extern .shared .align 1024 .b8 tessera_shared[];
// CODE: .visible .entry product(
// CODE: .param .align 64 .b8 product_param_3[128],
// CODE: .maxntid 288
// CODE: mbarrier.init.shared.b64
// CODE: fence.mbarrier_init.release.cluster;
// CODE: bar.sync
// CODE: mbarrier.try_wait.parity
// CODE: wgmma.fence.sync.aligned;
// CODE-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CODE: wgmma.wait_group.sync.aligned 0;
// CODE: mbarrier.arrive.shared.b64
// CODE: mbarrier.try_wait.parity
// CODE: mbarrier.arrive.expect_tx.shared.b64
// One box of 128 rows along k; two of 64 columns each.
// CODE-COUNT-3: cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CODE-NOT: cp.async.bulk
// CODE: .visible .entry lines_of_200_bytes(
exec.kernel @product(%a: tensor<130x128x200xbf16>, %b: tensor<130x200x128xbf16>) -> tensor<130x128x128xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<130x128x200xbf16>, tensor<130x200x128xbf16>) -> tensor<130x128x128xf32>
  exec.yield %0 : tensor<130x128x128xf32>
}

// No copy of a box takes these: warps multiply them.
// CODE-NOT: wgmma
// CODE: mma.sync.aligned.m16n8k16
exec.kernel @lines_of_200_bytes(%a: tensor<130x128x100xbf16>, %b: tensor<130x100x128xbf16>) -> tensor<130x128x128xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<130x128x100xbf16>, tensor<130x100x128xbf16>) -> tensor<130x128x128xf32>
  exec.yield %0 : tensor<130x128x128xf32>
}
