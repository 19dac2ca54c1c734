// The gradient of attention becomes a kernel that computes the probabilities again.
// RUN: tessera-opt %s --tessera-form-attention --tessera-form-kernels --tessera-verify-fuse --split-input-file | FileCheck %s

// Forward it leaves the largest score and the sum of each query. The sum in the softmax's gradient is made
// of results, one row each. No array has an element for each pair.
// CHECK-LABEL: func.func @training
// CHECK: %[[ROWS:.*]]:3 = exec.fused({{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128xf32>, tensor<2x8x128xf32>) {
// CHECK: exec.yield
// CHECK: exec.fused({{.*}}) -> tensor<2x8x128xf32> {
// CHECK-NOT: dot_general
// CHECK: stablehlo.multiply
// CHECK: stablehlo.reduce
// CHECK: exec.yield
// CHECK: exec.fused({{.*}}%[[ROWS]]#1 {{.*}}%[[ROWS]]#2 {{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
// CHECK-COUNT-5: stablehlo.dot_general
// CHECK: exec.yield
// CHECK-NOT: exec.fused
// CHECK: return
func.func @training(%q: tensor<2x8x128x32xf32>, %k: tensor<2x8x128x32xf32>, %v: tensor<2x8x128x32xf32>, %do: tensor<2x8x128x32xf32>) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x8x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x8x128x128xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x8x128x128xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dv = stablehlo.dot_general %p, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %t = stablehlo.multiply %p, %dp : tensor<2x8x128x128xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x8x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x8x128x128xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  return %o, %dq, %dk, %dv : tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>
}

// -----

// Of several layers each has its own, though ops go and others stand elsewhere where one is formed.
// CHECK-LABEL: func.func @two_layers
// CHECK: %[[ONE:.*]]:3 = exec.fused({{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128xf32>, tensor<2x8x128xf32>) {
// CHECK: %[[OTHER:.*]]:3 = exec.fused({{.*}}%[[ONE]]#0{{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128xf32>, tensor<2x8x128xf32>) {
// CHECK: %[[LAST:.*]]:3 = exec.fused({{.*}}%[[OTHER]]#1 {{.*}}%[[OTHER]]#2 {{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
// CHECK: exec.fused({{.*}}%[[ONE]]#1 {{.*}}%[[ONE]]#2 {{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
// CHECK: return
func.func @two_layers(%q: tensor<2x8x128x32xf32>, %k: tensor<2x8x128x32xf32>, %v: tensor<2x8x128x32xf32>, %do: tensor<2x8x128x32xf32>) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x8x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x8x128x128xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x8x128x128xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %sb = stablehlo.dot_general %o, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %mb = stablehlo.reduce(%sb init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %m2b = stablehlo.broadcast_in_dim %mb, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %xb = stablehlo.subtract %sb, %m2b : tensor<2x8x128x128xf32>
  %eb = stablehlo.exponential %xb : tensor<2x8x128x128xf32>
  %lb = stablehlo.reduce(%eb init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %l2b = stablehlo.broadcast_in_dim %lb, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %pb = stablehlo.divide %eb, %l2b : tensor<2x8x128x128xf32>
  %ob = stablehlo.dot_general %pb, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dvb = stablehlo.dot_general %pb, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dpb = stablehlo.dot_general %do, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %tb = stablehlo.multiply %pb, %dpb : tensor<2x8x128x128xf32>
  %db = stablehlo.reduce(%tb init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %d2b = stablehlo.broadcast_in_dim %db, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %cb = stablehlo.subtract %dpb, %d2b : tensor<2x8x128x128xf32>
  %dsb = stablehlo.multiply %pb, %cb : tensor<2x8x128x128xf32>
  %dqb = stablehlo.dot_general %dsb, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dkb = stablehlo.dot_general %dsb, %o, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dv = stablehlo.dot_general %p, %dqb, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dp = stablehlo.dot_general %dqb, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %t = stablehlo.multiply %p, %dp : tensor<2x8x128x128xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x8x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x8x128x128xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  return %dq, %dk, %dv, %dkb, %dvb : tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>
}

// -----

// Of few heads each has its keys in parts: what is of queries is a sum of each, and added up in another kernel.
// CHECK-LABEL: func.func @few_heads
// CHECK: exec.fused({{.*}}) -> (tensor<2x4x128x32xf32>, tensor<2x4x128xf32>, tensor<2x4x128xf32>) {
// CHECK: exec.fused({{.*}}) -> tensor<2x4x128xf32> {
// CHECK: %[[PARTS:.*]]:3 = exec.fused({{.*}}) -> ({{.*}}tensor<2x2x4x128x32xf32>{{.*}}) {
// CHECK-COUNT-5: stablehlo.dot_general
// CHECK: exec.yield
// CHECK: exec.fused({{.*}}%[[PARTS]]#{{[0-2]}} : tensor<2x2x4x128x32xf32>) -> tensor<2x4x128x32xf32> {
// CHECK: stablehlo.reduce{{.*}} applies stablehlo.add across dimensions = [0]
// CHECK-NOT: exec.fused
// CHECK: return
func.func @few_heads(%q: tensor<2x4x128x32xf32>, %k: tensor<2x4x256x32xf32>, %v: tensor<2x4x256x32xf32>, %do: tensor<2x4x128x32xf32>) -> (tensor<2x4x128x32xf32>, tensor<2x4x128x32xf32>, tensor<2x4x256x32xf32>, tensor<2x4x256x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x128x32xf32>, tensor<2x4x256x32xf32>) -> tensor<2x4x128x256xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x128x256xf32>, tensor<f32>) -> tensor<2x4x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x4x128xf32>) -> tensor<2x4x128x256xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x4x128x256xf32>
  %e = stablehlo.exponential %x : tensor<2x4x128x256xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x4x128x256xf32>, tensor<f32>) -> tensor<2x4x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x4x128xf32>) -> tensor<2x4x128x256xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x4x128x256xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x128x256xf32>, tensor<2x4x256x32xf32>) -> tensor<2x4x128x32xf32>
  %dv = stablehlo.dot_general %p, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x4x128x256xf32>, tensor<2x4x128x32xf32>) -> tensor<2x4x256x32xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x128x32xf32>, tensor<2x4x256x32xf32>) -> tensor<2x4x128x256xf32>
  %t = stablehlo.multiply %p, %dp : tensor<2x4x128x256xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x4x128x256xf32>, tensor<f32>) -> tensor<2x4x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x4x128xf32>) -> tensor<2x4x128x256xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x4x128x256xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x4x128x256xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x128x256xf32>, tensor<2x4x256x32xf32>) -> tensor<2x4x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x4x128x256xf32>, tensor<2x4x128x32xf32>) -> tensor<2x4x256x32xf32>
  return %o, %dq, %dk, %dv : tensor<2x4x128x32xf32>, tensor<2x4x128x32xf32>, tensor<2x4x256x32xf32>, tensor<2x4x256x32xf32>
}

// -----

// Of fewer, and of keys that are too few for parts, there are two kernels: parts of the queries of one are cells, of the
// other parts of the keys.
// CHECK-LABEL: func.func @two_kernels
// CHECK: exec.fused({{.*}}) -> (tensor<2x2x128x32xf32>, tensor<2x2x128xf32>, tensor<2x2x128xf32>) {
// CHECK: exec.fused({{.*}}) -> tensor<2x2x128xf32> {
// CHECK: exec.fused({{.*}}) -> {{(tensor<2x2x128x32xf32>|\(tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>\))}} {
// CHECK: exec.fused({{.*}}) -> {{(tensor<2x2x128x32xf32>|\(tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>\))}} {
// CHECK-NOT: exec.fused
// CHECK: return
func.func @two_kernels(%q: tensor<2x2x128x32xf32>, %k: tensor<2x2x128x32xf32>, %v: tensor<2x2x128x32xf32>, %do: tensor<2x2x128x32xf32>) -> (tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>) -> tensor<2x2x128x128xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x128x128xf32>, tensor<f32>) -> tensor<2x2x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x2x128xf32>) -> tensor<2x2x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x2x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x2x128x128xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x2x128x128xf32>, tensor<f32>) -> tensor<2x2x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x2x128xf32>) -> tensor<2x2x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x2x128x128xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x2x128x128xf32>, tensor<2x2x128x32xf32>) -> tensor<2x2x128x32xf32>
  %dv = stablehlo.dot_general %p, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x2x128x128xf32>, tensor<2x2x128x32xf32>) -> tensor<2x2x128x32xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>) -> tensor<2x2x128x128xf32>
  %t = stablehlo.multiply %p, %dp : tensor<2x2x128x128xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x2x128x128xf32>, tensor<f32>) -> tensor<2x2x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x2x128xf32>) -> tensor<2x2x128x128xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x2x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x2x128x128xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x2x128x128xf32>, tensor<2x2x128x32xf32>) -> tensor<2x2x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x2x128x128xf32>, tensor<2x2x128x32xf32>) -> tensor<2x2x128x32xf32>
  return %o, %dq, %dk, %dv : tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>, tensor<2x2x128x32xf32>
}

// -----

// Where the program yields the probabilities they are an array, and read.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK: exec.fused({{.*}}) -> {{.*}}tensor<2x8x128x128xf32>
// CHECK: return
func.func @read_elsewhere(%q: tensor<2x8x128x32xf32>, %k: tensor<2x8x128x32xf32>, %v: tensor<2x8x128x32xf32>, %do: tensor<2x8x128x32xf32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x8x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x8x128x128xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x8x128x128xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dv = stablehlo.dot_general %p, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %t = stablehlo.multiply %p, %dp : tensor<2x8x128x128xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x8x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x8x128x128xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  return %p, %dq, %dk, %dv : tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>
}

// -----

// Heads that share keys without a dimension of heads: what is known of each query lies otherwise than the result, so
// that queries and heads are no single loop. The result of the keys lies with its elements side by side; the order of
// the program, which has them apart, is made of it.
// CHECK-LABEL: func.func @shared_keys
// CHECK: exec.fused({{.*}}) -> (tensor<2x128x8x32xf32>, tensor<2x8x128xf32>, tensor<2x8x128xf32>) {
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK: exec.yield
// CHECK: exec.fused({{.*}}) -> tensor<2x8x128xf32> {
// CHECK-NOT: dot_general
// CHECK: exec.fused({{.*}}) -> tensor<2x128x32xf32> {
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK: exec.yield
// CHECK: exec.fused({{.*}}) -> tensor<2x32x128xf32> {
// CHECK-NOT: dot_general
// CHECK: stablehlo.transpose
// CHECK: return
func.func @shared_keys(%q: tensor<2x128x8x32xf32>, %k: tensor<2x32x128xf32>, %v: tensor<2x128x32xf32>, %do: tensor<2x128x8x32xf32>) -> (tensor<2x128x8x32xf32>, tensor<2x32x128xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<2x128x8x32xf32>, tensor<2x32x128xf32>) -> tensor<2x128x8x128xf32>
  %s = stablehlo.transpose %0, dims = [0, 2, 1, 3] : (tensor<2x128x8x128xf32>) -> tensor<2x8x128x128xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x8x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x8x128x128xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x8x128x128xf32>
  %1 = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<2x8x128x128xf32>, tensor<2x128x32xf32>) -> tensor<2x8x128x32xf32>
  %o = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x8x128x32xf32>) -> tensor<2x128x8x32xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [3] x [2] : (tensor<2x128x8x32xf32>, tensor<2x128x32xf32>) -> tensor<2x128x8x128xf32>
  %dpt = stablehlo.transpose %dp, dims = [0, 2, 1, 3] : (tensor<2x128x8x128xf32>) -> tensor<2x8x128x128xf32>
  %t = stablehlo.multiply %p, %dpt : tensor<2x8x128x128xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %c = stablehlo.subtract %dpt, %d2 : tensor<2x8x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x8x128x128xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [2, 1] x [1, 2] : (tensor<2x8x128x128xf32>, tensor<2x128x8x32xf32>) -> tensor<2x128x32xf32>
  %dkt = stablehlo.transpose %dk, dims = [0, 2, 1] : (tensor<2x128x32xf32>) -> tensor<2x32x128xf32>
  return %o, %dkt : tensor<2x128x8x32xf32>, tensor<2x32x128xf32>
}

// -----

// A loss's logits have the form of scores, and their gradient that of probabilities. That is summed up over rows for
// the weights, and over classes for what comes before: it stays an array for the one, so that for the other it is read,
// not computed again by a product more.
// CHECK-LABEL: func.func @logits
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK-NOT: stablehlo.dot_general
// CHECK: return
func.func @logits(%x: tensor<512x32xf32>, %w: tensor<512x32xf32>, %t: tensor<512x512xf32>) -> (tensor<512x32xf32>, tensor<512x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<512x32xf32>, tensor<512x32xf32>) -> tensor<512x512xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %d = stablehlo.subtract %s, %m2 : tensor<512x512xf32>
  %e = stablehlo.exponential %d : tensor<512x512xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %p = stablehlo.divide %e, %l2 : tensor<512x512xf32>
  %ds = stablehlo.subtract %p, %t : tensor<512x512xf32>
  %dw = stablehlo.dot_general %ds, %x, contracting_dims = [0] x [0] : (tensor<512x512xf32>, tensor<512x32xf32>) -> tensor<512x32xf32>
  %dx = stablehlo.dot_general %ds, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x32xf32>) -> tensor<512x32xf32>
  return %dw, %dx : tensor<512x32xf32>, tensor<512x32xf32>
}

// -----

// The same of the mean of losses: a quotient, but not of exponentials.
// CHECK-LABEL: func.func @logits_of_a_mean
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK-NOT: stablehlo.dot_general
// CHECK: return
func.func @logits_of_a_mean(%x: tensor<512x32xf32>, %w: tensor<512x32xf32>, %t: tensor<512x512xf32>) -> (tensor<512x32xf32>, tensor<512x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<512x32xf32>, tensor<512x32xf32>) -> tensor<512x512xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %d = stablehlo.subtract %s, %m2 : tensor<512x512xf32>
  %e = stablehlo.exponential %d : tensor<512x512xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
  %p = stablehlo.divide %e, %l2 : tensor<512x512xf32>
  %ds = stablehlo.subtract %p, %t : tensor<512x512xf32>
  %n = stablehlo.constant dense<512.0> : tensor<512x512xf32>
  %mean = stablehlo.divide %ds, %n : tensor<512x512xf32>
  %dw = stablehlo.dot_general %mean, %x, contracting_dims = [0] x [0] : (tensor<512x512xf32>, tensor<512x32xf32>) -> tensor<512x32xf32>
  %dx = stablehlo.dot_general %mean, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x32xf32>) -> tensor<512x32xf32>
  return %dw, %dx : tensor<512x32xf32>, tensor<512x32xf32>
}

// -----

// What a device has beyond the array's last row is zero where the gradient of the values sums over rows, and stays in the
// softmax's sum. The result, which is not there, is that of the probabilities before.
// CHECK-LABEL: func.func @rows_beyond
// CHECK: exec.fused({{.*}}) -> ({{.*}}tensor<2x8x128xf32>{{.*}}) {
// CHECK-NOT: tensor<2x8x128x128xf32>)
// CHECK: exec.fused({{.*}}) -> tensor<2x8x128xf32> {
// CHECK-NOT: dot_general
// CHECK: exec.fused({{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
// CHECK-COUNT-5: stablehlo.dot_general
// CHECK: exec.yield
// CHECK-NOT: exec.fused
// CHECK: return
func.func @rows_beyond(%q: tensor<2x8x128x32xf32>, %k: tensor<2x8x128x32xf32>, %v: tensor<2x8x128x32xf32>, %do: tensor<2x8x128x32xf32>) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x8x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x8x128x128xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x8x128x128xf32>
  %n = stablehlo.iota dim = 2 : tensor<2x8x128x128xi32>
  %end = stablehlo.constant dense<100> : tensor<2x8x128x128xi32>
  %there = stablehlo.compare LT, %n, %end : (tensor<2x8x128x128xi32>, tensor<2x8x128x128xi32>) -> tensor<2x8x128x128xi1>
  %zeros = stablehlo.constant dense<0.0> : tensor<2x8x128x128xf32>
  %pt = stablehlo.select %there, %p, %zeros : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
  %dv = stablehlo.dot_general %pt, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %t = stablehlo.multiply %p, %dp : tensor<2x8x128x128xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x8x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x8x128x128xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  return %dq, %dk, %dv : tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>
}

// -----

// What is known of the rows comes from elsewhere, as where queries and keys are computed again for the gradient: it has
// scores of its own, and no sum over keys says which dimension is that of keys.
// CHECK-LABEL: func.func @known_rows
// CHECK: exec.fused({{.*}}) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
// CHECK-COUNT-5: stablehlo.dot_general
// CHECK: exec.yield
// CHECK-NOT: exec.fused
// CHECK: return
func.func @known_rows(%q: tensor<2x8x128x32xf32>, %k: tensor<2x8x128x32xf32>, %v: tensor<2x8x128x32xf32>, %do: tensor<2x8x128x32xf32>, %m: tensor<2x8x128xf32>, %l: tensor<2x8x128xf32>, %d: tensor<2x8x128xf32>) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x8x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x8x128x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x8x128x128xf32>
  %dv = stablehlo.dot_general %p, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x8x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x8x128x128xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  return %dq, %dk, %dv : tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>
}

// -----

// Two arrays of values are multiplied by the same probabilities, and one of the results has a gradient: the sum in the
// softmax's gradient is made of that one, whichever comes last.
// CHECK-LABEL: func.func @two_values
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2x8x128x32xf32>, %{{[a-z0-9]+}}: tensor<2x8x128x32xf32>, %[[DO:[a-z0-9]+]]: tensor<2x8x128x32xf32>) ->
// CHECK: %[[O:.*]] = exec.fused({{.*}} = %[[V]] : tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32> {
// CHECK: exec.fused({{.*}} = %[[DO]] : {{.*}} = %[[O]] : tensor<2x8x128x32xf32>) -> tensor<2x8x128xf32> {
// CHECK: return
func.func @two_values(%q: tensor<2x8x128x32xf32>, %k: tensor<2x8x128x32xf32>, %v1: tensor<2x8x128x32xf32>, %v2: tensor<2x8x128x32xf32>, %do: tensor<2x8x128x32xf32>) -> (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %m = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %m2 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %x = stablehlo.subtract %s, %m2 : tensor<2x8x128x128xf32>
  %e = stablehlo.exponential %x : tensor<2x8x128x128xf32>
  %l = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %l2 = stablehlo.broadcast_in_dim %l, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %p = stablehlo.divide %e, %l2 : tensor<2x8x128x128xf32>
  %o2 = stablehlo.dot_general %p, %v2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %o1 = stablehlo.dot_general %p, %v1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dv = stablehlo.dot_general %p, %do, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dp = stablehlo.dot_general %do, %v1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x128xf32>
  %t = stablehlo.multiply %p, %dp : tensor<2x8x128x128xf32>
  %d = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
  %d2 = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
  %c = stablehlo.subtract %dp, %d2 : tensor<2x8x128x128xf32>
  %ds = stablehlo.multiply %p, %c : tensor<2x8x128x128xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x8x128x128xf32>, tensor<2x8x128x32xf32>) -> tensor<2x8x128x32xf32>
  return %o1, %o2, %dq, %dk, %dv : tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>, tensor<2x8x128x32xf32>
}
