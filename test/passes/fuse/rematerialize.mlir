// What a device would hold beyond its memory is computed again.
// RUN: tessera-opt --tessera-rematerialize --split-input-file %s | FileCheck %s
// RUN: tessera-opt --tessera-rematerialize --tessera-copy-cheap --tessera-form-kernels --tessera-order --tessera-memory --split-input-file %s | FileCheck %s --check-prefix=ARENA

// Without a bound nothing is computed twice.
// CHECK-LABEL: module @unbounded
// CHECK-COUNT-1: stablehlo.tanh
// CHECK-NOT: stablehlo.tanh
module @unbounded {
  func.func @main(%x: tensor<64x64xf32>, %v: tensor<64x256xf32>, %w: tensor<256x64xf32>) -> tensor<64x64xf32> {
    %a = stablehlo.tanh %x : tensor<64x64xf32>
    %b = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %d = stablehlo.dot_general %c, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %d : tensor<64x64xf32>
  }
}

// -----
// 160 KiB are the caller's; of %a (16 KiB), %b (64 KiB) and %c (16 KiB), %a has to go.
// CHECK-LABEL: module @straight
// CHECK: %[[A:.*]] = stablehlo.tanh %arg0
// CHECK: %[[B:.*]] = stablehlo.dot_general %[[A]], %arg1
// CHECK: %[[C:.*]] = stablehlo.dot_general %[[B]], %arg2
// CHECK: %[[AGAIN:.*]] = stablehlo.tanh %arg0
// CHECK: stablehlo.dot_general %[[C]], %[[AGAIN]]
// ARENA-LABEL: module @straight
// ARENA: exec.program @main arena 81920
module @straight attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 245760>} {
  func.func @main(%x: tensor<64x64xf32>, %v: tensor<64x256xf32>, %w: tensor<256x64xf32>) -> tensor<64x64xf32> {
    %a = stablehlo.tanh %x : tensor<64x64xf32>
    %b = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %d = stablehlo.dot_general %c, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %d : tensor<64x64xf32>
  }
}

// -----
// A loop puts %h and %t away in each trip for a later loop, which has %t by a tanh of %h.
// CHECK-LABEL: module @stacks
// CHECK: %[[FORWARD:.*]]:3 = stablehlo.while({{.*}}) : tensor<i32>, tensor<64x64xf32>, tensor<8x64x64xf32>
// CHECK: stablehlo.tanh
// CHECK: stablehlo.while
// CHECK-COUNT-1: stablehlo.dynamic_slice %[[FORWARD]]#2
// CHECK: stablehlo.tanh
// CHECK-NOT: dynamic_slice
// CHECK: stablehlo.multiply
module @stacks attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 230000>} {
  func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<7> : tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %empty = stablehlo.constant dense<0.0> : tensor<8x64x64xf32>
    %f:4 = stablehlo.while(%i = %zero, %a = %x, %hs = %empty, %ts = %empty) : tensor<i32>, tensor<64x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
    cond {
      %p = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %h = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = stablehlo.tanh %h : tensor<64x64xf32>
      %h1 = stablehlo.reshape %h : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
      %t1 = stablehlo.reshape %t : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
      %hs2 = stablehlo.dynamic_update_slice %hs, %h1, %i, %zero, %zero : (tensor<8x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x64x64xf32>
      %ts2 = stablehlo.dynamic_update_slice %ts, %t1, %i, %zero, %zero : (tensor<8x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x64x64xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %t, %hs2, %ts2 : tensor<i32>, tensor<64x64xf32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>
    }
    %g:2 = stablehlo.while(%i = %zero, %d = %f#1) : tensor<i32>, tensor<64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
    cond {
      %p = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.subtract %last, %i : tensor<i32>
      %h1 = stablehlo.dynamic_slice %f#2, %j, %zero, %zero, sizes = [1, 64, 64] : (tensor<8x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %t1 = stablehlo.dynamic_slice %f#3, %j, %zero, %zero, sizes = [1, 64, 64] : (tensor<8x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %h = stablehlo.reshape %h1 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %t = stablehlo.reshape %t1 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %e = stablehlo.multiply %d, %t : tensor<64x64xf32>
      %e2 = stablehlo.add %e, %h : tensor<64x64xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %e2 : tensor<i32>, tensor<64x64xf32>
    }
    return %g#1 : tensor<64x64xf32>
  }
}

// -----
// A loop reads a mask of 16 KiB that costs little: it is computed in each trip, in the kernel that reads it.
// CHECK-LABEL: module @mask
// CHECK: stablehlo.while
// CHECK: %[[MASK:.*]] = stablehlo.compare GE
// CHECK: stablehlo.select %[[MASK]]
// ARENA-LABEL: module @mask
// ARENA: exec.program @main arena 65600
module @mask attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 262208>} {
  func.func @main(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %rows = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %columns = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %mask = stablehlo.compare GE, %rows, %columns : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %none = stablehlo.constant dense<0.0> : tensor<128x128xf32>
    %f:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<128x128xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
    cond {
      %p = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %h = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
      %t = stablehlo.select %mask, %h, %none : tensor<128x128xi1>, tensor<128x128xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %t : tensor<i32>, tensor<128x128xf32>
    }
    return %f#1 : tensor<128x128xf32>
  }
}

// -----
// A loop puts %f away in f32, which it computes in bf16: it is put away so, and converted by who reads it. What is
// read by a loop that comes later is converted there.
// CHECK-LABEL: module @narrow
// CHECK: %[[STACKS:.*]]:3 = stablehlo.while({{.*}}) : tensor<i32>, tensor<8x64x64xbf16>, tensor<8x64x64xbf16>
// CHECK: stablehlo.dynamic_update_slice {{.*}} tensor<1x64x64xbf16>
// CHECK: stablehlo.dynamic_update_slice {{.*}} tensor<1x64x64xbf16>
// CHECK: stablehlo.convert %[[STACKS]]#1 : (tensor<8x64x64xbf16>) -> tensor<8x64x64xf32>
// CHECK: stablehlo.while
// CHECK: %[[SLOT:.*]] = stablehlo.dynamic_slice %[[STACKS]]#2{{.*}} -> tensor<1x64x64xbf16>
// CHECK: stablehlo.convert %[[SLOT]]
module @narrow attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 230000>} {
  func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> (tensor<64xf32>, tensor<64x64xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.constant dense<0.0> : tensor<8x64x64xf32>
    %y0 = stablehlo.constant dense<1.0> : tensor<64x64xf32>
    %f:3 = stablehlo.while(%i = %zero, %a = %s, %b = %s) : tensor<i32>, tensor<8x64x64xf32>, tensor<8x64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
    cond {
      %p = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %g = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<64x64xi32>
      %h = stablehlo.convert %g : (tensor<64x64xi32>) -> tensor<64x64xbf16>
      %k = stablehlo.add %h, %x : tensor<64x64xbf16>
      %d = stablehlo.dot_general %k, %w, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
      %e = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
      %d1 = stablehlo.convert %d : (tensor<64x64xbf16>) -> tensor<64x64xf32>
      %e1 = stablehlo.convert %e : (tensor<64x64xbf16>) -> tensor<64x64xf32>
      %d2 = stablehlo.reshape %d1 : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
      %e2 = stablehlo.reshape %e1 : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
      %a1 = stablehlo.dynamic_update_slice %a, %d2, %i, %zero, %zero : (tensor<8x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x64x64xf32>
      %b1 = stablehlo.dynamic_update_slice %b, %e2, %i, %zero, %zero : (tensor<8x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x64x64xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %a1, %b1 : tensor<i32>, tensor<8x64x64xf32>, tensor<8x64x64xf32>
    }
    %q = stablehlo.multiply %f#1, %f#1 : tensor<8x64x64xf32>
    %r = stablehlo.reduce(%q init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %l:2 = stablehlo.while(%i = %zero, %y = %y0) : tensor<i32>, tensor<64x64xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
    cond {
      %p = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %b1 = stablehlo.dynamic_slice %f#2, %i, %zero, %zero, sizes = [1, 64, 64] : (tensor<8x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %b2 = stablehlo.reshape %b1 : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
      %y1 = stablehlo.dot_general %y, %b2, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %y1 : tensor<i32>, tensor<64x64xf32>
    }
    return %r, %l#1 : tensor<64xf32>, tensor<64x64xf32>
  }
}

// -----
// The scores are 64 KiB, beside 32 KiB of the caller's: attention is one kernel that has none.
// CHECK-LABEL: module @scores attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 65536, small_attention>}
module @scores attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 65536>} {
  func.func @main(%q: tensor<128x16xf32>, %k: tensor<128x16xf32>, %v: tensor<128x16xf32>) -> tensor<128x16xf32> {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %x = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<128x16xf32>, tensor<128x16xf32>) -> tensor<128x128xf32>
    %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
    %2 = stablehlo.subtract %x, %1 : tensor<128x128xf32>
    %e = stablehlo.exponential %2 : tensor<128x128xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<128x128xf32>, tensor<f32>) -> tensor<128xf32>
    %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<128xf32>) -> tensor<128x128xf32>
    %p = stablehlo.divide %e, %3 : tensor<128x128xf32>
    %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x16xf32>) -> tensor<128x16xf32>
    return %o : tensor<128x16xf32>
  }
}
