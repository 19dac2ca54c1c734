// Loops over scalars and small arrays are one kernel.
// RUN: tessera-opt %s --tessera-form-loop-kernels | FileCheck %s
// RUN: tessera-opt %s --tessera-form-loop-kernels --tessera-mark-inplace --tessera-outline-kernels --tessera-assign-buffers --tessera-verify-memory | FileCheck %s --check-prefix=PROGRAM

// A few trips: the kernel is all. Constants of the loop are read as arrays.
// CHECK-LABEL: func.func @counted
// CHECK: %[[N:.*]] = stablehlo.constant dense<3>
// CHECK-NEXT: %[[R:.*]]:2 = exec.fused(%[[I:.*]] = %arg0 : tensor<i32>, %[[X:.*]] = %arg1 : tensor<4xf32>, %[[K:.*]] = %[[N]] : tensor<i32>)
// CHECK-NEXT: stablehlo.while(%{{.*}} = %[[I]], %{{.*}} = %[[X]])
// CHECK: exec.fused(%{{.*}}, %{{.*}} = %[[K]] : tensor<i32>) -> tensor<i1>
// CHECK: return %[[R]]#1
// PROGRAM-LABEL: exec.program @counted
// PROGRAM-NOT: exec.loop
// PROGRAM: exec.dispatch @while_
func.func @counted(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = stablehlo.while(%j = %i, %y = %x) : tensor<i32>, tensor<4xf32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = exec.fused(%a = %j : tensor<i32>, %b = %n : tensor<i32>) -> tensor<i1> {
      %0 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %p : tensor<i1>
  } do {
    %next:2 = exec.fused(%a = %j : tensor<i32>, %b = %y : tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.add %a, %one : tensor<i32>
      %1 = stablehlo.add %b, %b : tensor<4xf32>
      exec.yield %0, %1 : tensor<i32>, tensor<4xf32>
    }
    stablehlo.return %next#0, %next#1 : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// Nobody knows when data ends a loop: a kernel makes so many trips at most, and is called again. The table is updated where it lies.
// CHECK-LABEL: func.func @until
// CHECK: stablehlo.while
// CHECK: } do {
// CHECK: exec.fused
// CHECK: stablehlo.while
// CHECK: stablehlo.and
// CHECK: } do {
// CHECK: exec.fused({{.*}}tensor<5000xi32>{{.*}} attributes {inplace = array<i64: {{[0-9]+}}>}
// CHECK: stablehlo.dynamic_update_slice
// PROGRAM-LABEL: exec.program @until
// PROGRAM-DAG: %[[TABLE:.*]] = exec.buffer {{.*}} tensor<5000xi32>
// PROGRAM: exec.loop while
// PROGRAM: exec.dispatch @while_{{.*}}({{.*}}%[[AT:[0-9]+]]{{.*}}) -> ({{.*}}%[[AT]]
// PROGRAM-NOT: exec.copy {{.*}}tensor<5000xi32>
func.func @until(%i: tensor<i32>, %t: tensor<5000xi32>) -> tensor<5000xi32> {
  %r:2 = stablehlo.while(%j = %i, %y = %t) : tensor<i32>, tensor<5000xi32>
  cond {
    %p = exec.fused(%a = %j : tensor<i32>) -> tensor<i1> {
      %n = stablehlo.constant dense<5000> : tensor<i32>
      %0 = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %p : tensor<i1>
  } do {
    %u = exec.fused(%a = %j : tensor<i32>, %b = %y : tensor<5000xi32>) -> tensor<5000xi32> {
      %0 = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
      %1 = stablehlo.dynamic_update_slice %b, %0, %a : (tensor<5000xi32>, tensor<1xi32>, tensor<i32>) -> tensor<5000xi32>
      exec.yield %1 : tensor<5000xi32>
    }
    %n = exec.fused(%a = %j : tensor<i32>) -> tensor<i32> {
      %0 = stablehlo.add %a, %a : tensor<i32>
      exec.yield %0 : tensor<i32>
    }
    stablehlo.return %n, %u : tensor<i32>, tensor<5000xi32>
  }
  return %r#1 : tensor<5000xi32>
}

// What is read after its update needs the array as it was: instructions and a copy.
// CHECK-LABEL: func.func @read_later
// CHECK-NOT: exec.fused
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.while
// CHECK: return
func.func @read_later(%i: tensor<i32>, %t: tensor<5000xi32>) -> tensor<5000xi32> {
  %r:2 = stablehlo.while(%j = %i, %y = %t) : tensor<i32>, tensor<5000xi32> attributes {tessera.trip_count = #tessera.trip_count<3>}
  cond {
    %p = exec.fused(%a = %j : tensor<i32>) -> tensor<i1> {
      %n = stablehlo.constant dense<5000> : tensor<i32>
      %0 = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      exec.yield %0 : tensor<i1>
    }
    stablehlo.return %p : tensor<i1>
  } do {
    %u = exec.fused(%a = %j : tensor<i32>, %b = %y : tensor<5000xi32>) -> tensor<5000xi32> {
      %0 = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
      %1 = stablehlo.dynamic_update_slice %b, %0, %a : (tensor<5000xi32>, tensor<1xi32>, tensor<i32>) -> tensor<5000xi32>
      exec.yield %1 : tensor<5000xi32>
    }
    %n = exec.fused(%a = %j : tensor<i32>, %b = %y : tensor<5000xi32>) -> tensor<i32> {
      %0 = stablehlo.dynamic_slice %b, %a, sizes = [1] : (tensor<5000xi32>, tensor<i32>) -> tensor<1xi32>
      %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
      exec.yield %1 : tensor<i32>
    }
    stablehlo.return %n, %u : tensor<i32>, tensor<5000xi32>
  }
  return %r#1 : tensor<5000xi32>
}
