// RUN: tessera-opt %s --tessera-mark-counted-loops | FileCheck %s

// Loops that count from a constant to a constant are marked with their trips; others are not.

// CHECK-LABEL: func.func @up
// CHECK:         tessera.trip_count = #tessera.trip_count<8>
func.func @up() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %eight, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return %0 : tensor<i32>
}

// Down in steps of 3 with the sides exchanged: 10, 7, 4, 1.

// CHECK-LABEL: func.func @down
// CHECK:         tessera.trip_count = #tessera.trip_count<4>
func.func @down() -> tensor<i32> {
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.while(%i = %ten) : tensor<i32>
  cond {
    %c = stablehlo.compare LE, %one, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.subtract %i, %three : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return %0 : tensor<i32>
}

// The bound is carried unchanged, the inner loop's through the outer one.

// CHECK-LABEL: func.func @nested
// CHECK:         tessera.trip_count = #tessera.trip_count<5>
// CHECK:           tessera.trip_count = #tessera.trip_count<5>
func.func @nested() -> tensor<i64> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %five = stablehlo.constant dense<5> : tensor<i64>
  %0:2 = stablehlo.while(%i = %zero, %n = %five) : tensor<i64>, tensor<i64>
  cond {
    %c = stablehlo.compare NE, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %zero, %m = %n) : tensor<i64>, tensor<i64>
    cond {
      %c = stablehlo.compare LT, %j, %m, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %k = stablehlo.add %one, %j : tensor<i64>
      stablehlo.return %k, %m : tensor<i64>, tensor<i64>
    }
    %k = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %k, %n : tensor<i64>, tensor<i64>
  }
  return %0#0 : tensor<i64>
}

// Data decides; a counter that never meets its bound; one that would wrap around.

// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     tessera.trip_count
func.func @unknown(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i8>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %k = stablehlo.add %i, %two : tensor<i32>
    stablehlo.return %k : tensor<i32>
  }
  %1 = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %c = stablehlo.compare NE, %i, %nine, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %k = stablehlo.add %i, %two : tensor<i32>
    stablehlo.return %k : tensor<i32>
  }
  %small = stablehlo.constant dense<0> : tensor<i8>
  %most = stablehlo.constant dense<127> : tensor<i8>
  %step = stablehlo.constant dense<100> : tensor<i8>
  %2 = stablehlo.while(%i = %small) : tensor<i8>
  cond {
    %c = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %k = stablehlo.add %i, %step : tensor<i8>
    stablehlo.return %k : tensor<i8>
  }
  return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<i8>
}
