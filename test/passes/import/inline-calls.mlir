// RUN: tessera-opt %s --tessera-inline-calls --split-input-file --verify-diagnostics | FileCheck %s

// Bodies go where they are called, in nested regions and through several levels; nothing of a function is left.

// CHECK-LABEL: func.func @main
// CHECK-NOT:     call @
// CHECK:         stablehlo.while
// CHECK:           stablehlo.sine
// CHECK:           stablehlo.add
// CHECK:         stablehlo.sine
// CHECK-NOT:   func.func
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<4xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = func.call @outer(%a) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1, %i : tensor<4xf32>, tensor<i32>
  }
  %2 = call @inner(%0#0) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @unused() {
  return
}

// -----

// A result that is an argument, and a composite: the call of its decomposition.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[S:.*]] = stablehlo.sine %[[X]]
// CHECK-NEXT:    return %[[X]], %[[S]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.sine" %x {decomposition = @sine} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @sine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What a custom call names stays.

// CHECK-LABEL: func.func @main
// CHECK:       func.func private @named
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%x) {called_computations = [@named]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @named() {
  return
}

// -----

func.func @main() {
  call @loop() : () -> ()
  return
}
// expected-error@+1 {{function @loop calls itself; write the recursion as stablehlo.while}}
func.func private @loop() {
  call @loop() : () -> ()
  return
}

// -----

func.func @main() {
  // expected-error@+1 {{calls @elsewhere, which has no body in this module}}
  call @elsewhere() : () -> ()
  return
}
func.func private @elsewhere()

// -----

// expected-error@+1 {{the module has no public function with a body: name the entry with --entry}}
module {
  func.func private @f() {
    return
  }
}

// -----

// What starts asynchronously runs where it starts.

// CHECK-LABEL: func.func @main
// CHECK:         %[[G:.*]] = "stablehlo.all_gather"(%arg0)
// CHECK:         %[[N:.*]] = stablehlo.negate %arg0
// CHECK:         return %[[G]], %[[N]]
func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%p: tensor<4xf32>):
    %g = "stablehlo.all_gather"(%p) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %g : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  %n = stablehlo.negate %x : tensor<4xf32>
  %d = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return %d, %n : tensor<8xf32>, tensor<4xf32>
}

// -----

// A body without arguments names the operands themselves, as the specification's examples do.

// CHECK-LABEL: func.func @main
// CHECK:         %[[S:.*]] = stablehlo.slice %arg0 [0:2]
// CHECK:         return %[[S]]
func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
  %f = "stablehlo.async_start"(%x) ({
    %g = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %g : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  %d = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

// Wrong would be: a future that is returned is replaced by an array, which has another type.
func.func @main(%x: tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>> {
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%p: tensor<4xf32>):
    %g = stablehlo.slice %p [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %g : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  // expected-error@+1 {{takes a '!stablehlo.future<tensor<2xf32>>' that nobody has waited for}}
  return %f : !stablehlo.future<tensor<2xf32>>
}
