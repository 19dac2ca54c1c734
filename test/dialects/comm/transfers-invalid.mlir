// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @type(%x: tensor<8xf32>) {
  // expected-error@+1 {{changes the type}}
  %h = comm.transfer to host (%x) : (tensor<8xf32>) -> tensor<8xbf16>
  return
}

// -----

func.func @row(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{changes the shape of a row}}
  %h = comm.transfer to host (%x) : (tensor<8x4xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @fewer(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{takes or gives more rows than there are}}
  %h = comm.transfer to host (%x) : (tensor<8x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @more(%h: tensor<8x4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{takes or gives more rows than there are}}
  %d = comm.transfer to device (%h) at %i : (tensor<8x4xf32>, tensor<i32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @scalar(%h: tensor<f32>, %i: tensor<i32>) {
  // expected-error@+1 {{takes rows of a scalar}}
  %d = comm.transfer to device (%h) at %i : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @where(%h: tensor<8xf32>, %x: tensor<1xf32>) {
  // expected-error@+1 {{replaces rows, but says not which: `at`}}
  %d = comm.transfer to host (%x) into %h : (tensor<1xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @other(%h: tensor<9xf32>, %x: tensor<1xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{replaces rows of 'tensor<9xf32>'}}
  %d = comm.transfer to host (%x) into %h at %i : (tensor<1xf32>, tensor<9xf32>, tensor<i32>) -> tensor<8xf32>
  return
}
