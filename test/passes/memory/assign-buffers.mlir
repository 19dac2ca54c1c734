// Where values go. Every case names what would be wasted or wrong otherwise.
// RUN: tessera-opt %s --split-input-file --tessera-outline-kernels --tessera-assign-buffers --tessera-verify-memory | FileCheck %s

// A temporary in the arena, a view of it, the result straight in the output.
// CHECK: exec.program @chain arena 64 constants 0
// CHECK-DAG: %[[X:.*]] = exec.buffer input 0 : tensor<8xf32>
// CHECK-DAG: %[[T:.*]] = exec.buffer arena at 0 : tensor<8xf32> {array = array<i64: 0, 32, 1, 10>}
// CHECK-DAG: %[[V:.*]] = exec.buffer arena at 0 : tensor<2x4xf32> {array = array<i64: 0, 32, 1, 10>}
// CHECK-DAG: %[[Y:.*]] = exec.buffer output 0 : tensor<4x2xf32>
// CHECK: exec.dispatch @exponential_0(%[[X]]) -> (%[[T]]) time 0
// CHECK-NEXT: exec.dispatch @transpose_0(%[[V]]) -> (%[[Y]])
// CHECK-NEXT: }
func.func @chain(%x: tensor<8xf32>) -> tensor<4x2xf32> {
  %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.exponential %p : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %v = stablehlo.reshape %a : (tensor<8xf32>) -> tensor<2x4xf32>
  %b = exec.fused(%p = %v : tensor<2x4xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.transpose %p, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    exec.yield %0 : tensor<4x2xf32>
  }
  return %b : tensor<4x2xf32>
}

// -----

// A donated argument is updated where it lies; one that is not is left alone.
// CHECK: exec.program @donated arena 0
// CHECK-SAME: donated = true
// CHECK-SAME: alias = 0
// CHECK-DAG: %[[P:.*]] = exec.buffer input 0
// CHECK-DAG: %[[G:.*]] = exec.buffer input 1
// CHECK: exec.dispatch @subtract_0(%[[P]], %[[G]]) -> (%[[P]])
// CHECK-NOT: exec.copy
func.func @donated(%p: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<8xf32>) -> tensor<8xf32> {
  %r = exec.fused(%a = %p : tensor<8xf32>, %b = %g : tensor<8xf32>) -> tensor<8xf32> attributes {inplace = array<i64: 0>} {
    %0 = stablehlo.subtract %a, %b : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A scan's stack is filled in place, from the loop's start to the output; the counter too.
// CHECK: exec.program @scan
// CHECK-DAG: %[[S:.*]] = exec.buffer output 0 : tensor<3x8xf32>
// CHECK-DAG: %[[I:.*]] = exec.buffer arena at {{.*}} : tensor<i32>
// CHECK: exec.dispatch @constant_0() -> (%[[S]])
// CHECK: exec.copy %{{.*}} to %[[I]]
// CHECK-NEXT: exec.loop 3 {
// CHECK-NEXT: exec.dispatch @dynamic_update_slice_0(%[[S]], %{{.*}}, %[[I]]) -> (%[[S]])
// CHECK-NEXT: exec.dispatch @add_0(%[[I]]) -> (%[[I]])
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @scan(%x: tensor<8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %s = exec.fused() -> tensor<3x8xf32> {
    %0 = stablehlo.constant dense<0.0> : tensor<3x8xf32>
    exec.yield %0 : tensor<3x8xf32>
  }
  %v = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<1x8xf32>
  %r:2 = stablehlo.while(%i = %zero, %t = %s) : tensor<i32>, tensor<3x8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %p = exec.fused(%k = %i : tensor<i32>) -> tensor<i1> {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %0 = stablehlo.compare LT, %k, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %p : tensor<i1>
  } do {
    %u = exec.fused(%a = %t : tensor<3x8xf32>, %b = %v : tensor<1x8xf32>, %k = %i : tensor<i32>) -> tensor<3x8xf32> attributes {inplace = array<i64: 0>} {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.dynamic_update_slice %a, %b, %k, %z : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
      exec.yield %0 : tensor<3x8xf32>
    }
    %j = exec.fused(%k = %i : tensor<i32>) -> tensor<i32> attributes {inplace = array<i64: 0>} {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.add %k, %one : tensor<i32>
      exec.yield %0 : tensor<i32>
    }
    stablehlo.return %j, %u : tensor<i32>, tensor<3x8xf32>
  }
  return %r#1 : tensor<3x8xf32>
}

// -----

// What a loop carries changes places every time: the moves go through a temporary.
// CHECK: exec.program @swap
// CHECK: exec.loop 3 {
// CHECK-NEXT: exec.copy %[[A:.*]] to %[[T:.*]]
// CHECK-NEXT: exec.copy %[[B:.*]] to %[[A]]
// CHECK-NEXT: exec.copy %[[T]] to %[[B]]
// CHECK-NEXT: }
func.func @swap(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = stablehlo.while(%a = %x, %b = %y) : tensor<8xf32>, tensor<8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %b, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// The operand of a collective may not be overwritten before the wait: %b gets an array of its own.
// CHECK: exec.program @flight arena 64
// CHECK-DAG: %[[O:.*]] = exec.buffer output 1
// CHECK-DAG: %[[A:.*]] = exec.buffer arena at 0
// CHECK: exec.start 0 all_reduce sum over #comm.axes<@mesh, ["x"=4]>(%[[A]]) -> (
// CHECK-NEXT: exec.dispatch @exponential_0(%[[A]]) -> (%[[O]])
// CHECK-NEXT: exec.wait 0
func.func @flight(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %p : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %r, %h = comm.start all_reduce(%a) over <@mesh, ["x"=4]> {reduction = #comm<reduction sum>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
  %b = exec.fused(%p = %a : tensor<8xf32>) -> tensor<8xf32> attributes {inplace = array<i64: 0>} {
    %0 = stablehlo.exponential %p : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %c = comm.wait %h(%r) : tensor<8xf32>
  return %c, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// A branch writes its result where both blocks leave it; the same value returned twice is copied once.
// CHECK: exec.program @branch
// CHECK-DAG: %[[X:.*]] = exec.buffer input 1
// CHECK-DAG: %[[O:.*]] = exec.buffer output 0
// CHECK-DAG: %[[P:.*]] = exec.buffer output 1
// CHECK: exec.branch %{{.*}} {
// CHECK-NEXT: exec.dispatch @negate_0(%[[X]]) -> (%[[O]])
// CHECK-NEXT: }, {
// CHECK-NEXT: exec.copy %[[X]] to %[[O]]
// CHECK-NEXT: }
// CHECK-NEXT: exec.copy %[[O]] to %[[P]]
func.func @branch(%i: tensor<i32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r = "stablehlo.case"(%i) ({
    %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.negate %p : tensor<8xf32>
      exec.yield %0 : tensor<8xf32>
    }
    stablehlo.return %a : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %r, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// Other collectives don't work in place, nor does an all-reduce that reads an array twice, or of an argument that the
// caller keeps.
// CHECK: exec.program @not_in_place arena 0
// CHECK-DAG: %[[X:.*]] = exec.buffer input 0
// CHECK-DAG: %[[B:.*]] = exec.buffer output 2 : tensor<8xf32>
// CHECK: exec.start 0 permute over {{.*}}({{.*}}) -> (%[[B]])
// CHECK: %[[B]], %[[B]]) -> (
// CHECK: exec.start 2 all_reduce sum over {{.*}}(%[[X]]) -> (
func.func @not_in_place(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %p : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %r, %h = comm.start permute(%a) over <@mesh, ["x"=4]> {pairs = array<i64: 0, 1>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
  %b = comm.wait %h(%r) : tensor<8xf32>
  %s:2, %i = comm.start all_reduce(%b, %b) over <@mesh, ["x"=4]> {reduction = #comm<reduction sum>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, !comm.handle)
  %c:2 = comm.wait %i(%s#0, %s#1) : tensor<8xf32>, tensor<8xf32>
  %t, %j = comm.start all_reduce(%x) over <@mesh, ["x"=4]> {reduction = #comm<reduction sum>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
  %d = comm.wait %j(%t) : tensor<8xf32>
  return %c#0, %c#1, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Of two all-reduces that are under way together neither overwrites what the other still reads.
// CHECK: exec.program @reduced_twice
// CHECK: exec.start 0 all_reduce sum over {{.*}}(%[[A:.*]]) -> (%[[R:.*]])
// CHECK-NEXT: exec.start 1 all_reduce max over {{.*}}(%[[A]]) -> (%[[S:.*]])
// CHECK-NEXT: exec.wait 0
// CHECK-NEXT: exec.wait 1
func.func @reduced_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %p : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %r, %h = comm.start all_reduce(%a) over <@mesh, ["x"=4]> {reduction = #comm<reduction sum>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
  %s, %i = comm.start all_reduce(%a) over <@mesh, ["x"=4]> {reduction = #comm<reduction max>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
  %b = comm.wait %h(%r) : tensor<8xf32>
  %c = comm.wait %i(%s) : tensor<8xf32>
  return %b, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// What is carried around a loop is reduced in place, too.
// CHECK: exec.program @reduced_state arena 0
// CHECK: exec.loop 3 {
// CHECK-NEXT: exec.start 0 all_reduce sum over {{.*}}(%[[O:.*]]) -> (%[[O]])
// CHECK-NEXT: exec.wait 0
// CHECK-NEXT: }
func.func @reduced_state(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = stablehlo.while(%a = %x) : tensor<8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s, %h = comm.start all_reduce(%a) over <@mesh, ["x"=4]> {reduction = #comm<reduction sum>} : (tensor<8xf32>) -> (tensor<8xf32>, !comm.handle)
    %b = comm.wait %h(%s) : tensor<8xf32>
    stablehlo.return %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Temporaries lie in outputs until these are written: %a in that of 64 bytes, with room for %b.
// CHECK: exec.program @temporaries_in_outputs arena 0
// CHECK-DAG: %[[X:.*]] = exec.buffer input 0
// CHECK-DAG: %[[A:.*]] = exec.buffer output 1 : tensor<8xf32>
// CHECK-DAG: %[[R:.*]] = exec.buffer output 0 : tensor<4xf32>
// CHECK-DAG: %[[W:.*]] = exec.buffer output 1 : tensor<24xf32>
// CHECK: exec.dispatch @negate_0(%[[X]]) -> (%[[A]])
// CHECK: exec.dispatch @slice_0(%[[A]]) -> (%[[R]])
// CHECK: exec.dispatch @concatenate_0(%[[X]]) -> (%[[W]])
func.func @temporaries_in_outputs(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<24xf32>) {
  %a = exec.fused(%p = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %p : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %b = exec.fused(%p = %a : tensor<8xf32>) -> tensor<4xf32> {
    %0 = stablehlo.slice %p [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    exec.yield %0 : tensor<4xf32>
  }
  %c = exec.fused(%p = %x : tensor<8xf32>) -> tensor<24xf32> {
    %0 = stablehlo.concatenate %p, %p, %p, dim = 0 : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<24xf32>
    exec.yield %0 : tensor<24xf32>
  }
  return %b, %c : tensor<4xf32>, tensor<24xf32>
}

// -----

// What an outer loop carries through an inner one, and through a branch that changes it or does not, is one array.
// CHECK: exec.program @carried
// CHECK-DAG: %[[S:.*]] = exec.buffer output 0 : tensor<8xf32>
// CHECK: exec.copy %{{.*}} to %[[S]]
// CHECK-NEXT: exec.loop 3 {
// CHECK-NEXT: exec.branch %{{.*}} {
// CHECK-NEXT: }, {
// CHECK-NEXT: exec.loop 5 {
// CHECK-NEXT: exec.dispatch @negate_0(%[[S]]) -> (%[[S]])
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @carried(%x: tensor<8xf32>, %p: tensor<i32>) -> tensor<8xf32> {
  %r = stablehlo.while(%s = %x) : tensor<8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %c = "stablehlo.case"(%p) ({
      stablehlo.return %s : tensor<8xf32>
    }, {
      %w = stablehlo.while(%a = %s) : tensor<8xf32> attributes {tessera.trip_count = #tessera.trip_count<5>}
      cond {
        %t = stablehlo.constant dense<true> : tensor<i1>
        stablehlo.return %t : tensor<i1>
      } do {
        %n = exec.fused(%b = %a : tensor<8xf32>) -> tensor<8xf32> attributes {inplace = array<i64: 0>} {
          %0 = stablehlo.negate %b : tensor<8xf32>
          exec.yield %0 : tensor<8xf32>
        }
        stablehlo.return %n : tensor<8xf32>
      }
      stablehlo.return %w : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    stablehlo.return %c : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// What is read behind a branch that writes another state is not written over in it.
// CHECK: exec.program @kept
// CHECK: exec.branch
// CHECK: exec.dispatch @negate_0(%[[S:[0-9]*]]) -> (%[[T:[0-9]*]])
// CHECK-NEXT: }
// CHECK-NEXT: exec.dispatch @add_0(%[[T]], %[[S]])
func.func @kept(%x: tensor<8xf32>, %p: tensor<i32>) -> tensor<8xf32> {
  %r = stablehlo.while(%s = %x) : tensor<8xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %c = "stablehlo.case"(%p) ({
      stablehlo.return %s : tensor<8xf32>
    }, {
      %n = exec.fused(%b = %s : tensor<8xf32>) -> tensor<8xf32> attributes {inplace = array<i64: 0>} {
        %0 = stablehlo.negate %b : tensor<8xf32>
        exec.yield %0 : tensor<8xf32>
      }
      stablehlo.return %n : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    %m = exec.fused(%a = %c : tensor<8xf32>, %b = %s : tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.add %a, %b : tensor<8xf32>
      exec.yield %0 : tensor<8xf32>
    }
    stablehlo.return %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
