// Which operand a result may overwrite.
// RUN: tessera-opt %s --tessera-mark-inplace | FileCheck %s

// The donated argument rather than the first that would fit.
// CHECK-LABEL: func.func @donated
// CHECK: attributes {inplace = array<i64: 1>}
func.func @donated(%g: tensor<8xf32>, %p: tensor<8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8xf32> {
  %r = exec.fused(%a = %g : tensor<8xf32>, %b = %p : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.subtract %b, %a : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// An operand that is read elsewhere too is not overwritten.
// CHECK-LABEL: func.func @reversed
// CHECK-NOT: inplace
func.func @reversed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = exec.fused(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
    %1 = stablehlo.add %a, %0 : tensor<8xf32>
    exec.yield %1 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Nor one whose elements are parts of what is computed: the four bytes of a number all count for each byte written.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: inplace
func.func @bytes(%x: tensor<8x4xui8> {tf.aliasing_output = 0 : i32}) -> tensor<8x4xui8> {
  %r = exec.fused(%a = %x : tensor<8x4xui8>) -> tensor<8x4xui8> {
    %0 = stablehlo.bitcast_convert %a : (tensor<8x4xui8>) -> tensor<8xui32>
    %1 = stablehlo.add %0, %0 : tensor<8xui32>
    %2 = stablehlo.bitcast_convert %1 : (tensor<8xui32>) -> tensor<8x4xui8>
    exec.yield %2 : tensor<8x4xui8>
  }
  return %r : tensor<8x4xui8>
}

// A contraction overwrites what its epilogue adds, never what it multiplies.
// CHECK-LABEL: func.func @epilogue
// CHECK: attributes {inplace = array<i64: 2>}
func.func @epilogue(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8x8xf32> {
  %r = exec.fused(%a = %x : tensor<8x8xf32>, %b = %y : tensor<8x8xf32>, %c = %z : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.add %0, %c : tensor<8x8xf32>
    exec.yield %1 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @update
// CHECK: attributes {inplace = array<i64: 0>}
func.func @update(%x: tensor<8x4xf32>, %u: tensor<1x4xf32>, %i: tensor<i32>) -> tensor<8x4xf32> {
  %r = exec.fused(%a = %x : tensor<8x4xf32>, %b = %u : tensor<1x4xf32>, %k = %i : tensor<i32>) -> tensor<8x4xf32> {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %a, %b, %k, %z : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    exec.yield %0 : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// Of two operands that fit, the one that nobody needs any more: an argument stays the caller's.
// CHECK-LABEL: func.func @dying
// CHECK: exec.fused(%{{.*}} = %arg0 : tensor<8xf32>, %{{.*}} attributes {inplace = array<i64: 1>}
func.func @dying(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = exec.fused(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %a : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %r = exec.fused(%a = %x : tensor<8xf32>, %b = %t : tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A row is read in several passes, all before its first element is written.
// CHECK-LABEL: func.func @rows
// CHECK: attributes {inplace = array<i64: 0, -1>}
func.func @rows(%x: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %r:2 = exec.fused(%a = %x : tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %0 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.divide %a, %0 : tensor<8x8xf32>
    exec.yield %1, %s : tensor<8x8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<8xf32>
}

// The sum of another row would be of what was written.
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT: inplace
func.func @other_rows(%x: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8x8xf32> {
  %r = exec.fused(%a = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.divide %a, %0 : tensor<8x8xf32>
    exec.yield %1 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
